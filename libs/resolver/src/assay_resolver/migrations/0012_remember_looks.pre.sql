-- The order of the latest look at a listing by which it does not speak: its page was gone, was asked about, or it was
-- rejected. An older page that comes late is older than this look too. Null, or older than the reading: the reading is
-- the latest look.
ALTER TABLE listing ADD COLUMN looked_observed_at timestamptz, ADD COLUMN looked_received_at timestamptz,
    ADD COLUMN looked_receipt_id text, ADD COLUMN looked_attempt_group integer,
    ADD CONSTRAINT listing_look_is_whole CHECK (
        num_nulls(looked_observed_at, looked_received_at, looked_receipt_id, looked_attempt_group) IN (0, 4)
    );
GRANT UPDATE (looked_observed_at, looked_received_at, looked_receipt_id, looked_attempt_group) ON listing
    TO assay_stages, assay_resolver_api;

-- What a rejected listing was ever asked about, looked for at each crawl of its page.
CREATE INDEX case_by_subject ON review_case (tenant_id, catalog_id, subject);
