-- name: list_epochs
-- Every incarnation of the history, oldest first.
SELECT ordinal, name, state FROM history_epoch ORDER BY ordinal;

-- name: find_open
-- The one incarnation in which work takes effect.
SELECT ordinal, name, state FROM history_epoch WHERE state = 'open';
