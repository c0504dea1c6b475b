"""Moves the outbox to Kafka in position order, and sends what nobody else has sent."""
