"""The transactional core of the resolver database: streams, decisions, facts, outbox append, jobs, inbox, epochs."""
