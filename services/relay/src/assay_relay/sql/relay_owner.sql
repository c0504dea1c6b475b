-- name: renew_owner
-- The heartbeat that keeps every lease of this relay; registers it at first, or after others buried it.
INSERT INTO relay_owner (owner, expires_at)
VALUES (%(owner)s, clock_timestamp() + make_interval(secs => %(lease_seconds)s))
ON CONFLICT (owner) DO UPDATE SET expires_at = excluded.expires_at;

-- name: bury_owners
-- Forget the relays that stopped renewing; the foreign key frees their buckets.
DELETE FROM relay_owner WHERE owner IN (
    SELECT owner FROM relay_owner WHERE expires_at <= clock_timestamp() FOR UPDATE SKIP LOCKED
);

-- name: count_owners
-- How many relays share the buckets.
SELECT count(*) FROM relay_owner WHERE expires_at > clock_timestamp();

-- name: leave_owners
-- A graceful stop: give everything back at once.
DELETE FROM relay_owner WHERE owner = %(owner)s;
