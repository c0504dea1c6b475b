"""The only place that runs SQL: what apply writes, what it keeps of Kafka, and what the API reads."""
