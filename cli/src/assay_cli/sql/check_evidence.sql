-- name: list_evidence
-- What must lie in the bucket.
SELECT tenant_id, sha256, bytes FROM evidence WHERE state = 'stored' ORDER BY 1, 2;

-- name: judge_objects
-- Of each object, in their order: is its tenant known, are its bytes the tenant's own, are they another tenant's.
SELECT EXISTS (SELECT FROM tenant t WHERE t.tenant_id = w.tenant_id),
       EXISTS (SELECT FROM evidence e WHERE (e.tenant_id, e.sha256) = (w.tenant_id, w.sha256)),
       EXISTS (SELECT FROM evidence e WHERE e.sha256 = w.sha256 AND e.tenant_id <> w.tenant_id)
FROM unnest(%(tenants)s::text[], %(hashes)s::text[]) WITH ORDINALITY AS w (tenant_id, sha256, n)
ORDER BY w.n;
