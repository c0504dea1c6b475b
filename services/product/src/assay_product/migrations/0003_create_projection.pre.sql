-- ⑦ the catalog as it can be read: each row is the fold of one aggregate's events, whatever order they came in.
-- Rows are never deleted: what was cleared, merged or retired stays with its revision, so that a late event is known as late.
CREATE EXTENSION IF NOT EXISTS pg_trgm;
CREATE EXTENSION IF NOT EXISTS btree_gin;

CREATE TABLE item (
    tenant_id text NOT NULL,
    catalog_id text NOT NULL,
    generation integer NOT NULL,
    item_id text NOT NULL,
    state text NOT NULL,
    merged_into text,
    because text,
    revision bigint NOT NULL,
    position bigint NOT NULL,
    decision_id text NOT NULL,
    occurred_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, catalog_id, generation, item_id),
    CONSTRAINT item_state_known CHECK (state IN ('active', 'retired', 'merged')),
    CONSTRAINT item_merged_names_its_root CHECK ((state = 'merged') = (merged_into IS NOT NULL)),
    CONSTRAINT item_revision_from_one CHECK (revision >= 1)
) WITH (fillfactor = 80);
CREATE INDEX item_active ON item (tenant_id, catalog_id, generation, item_id) WHERE state = 'active';

-- The item that a listing is; null items once the mapping is cleared.
CREATE TABLE mapping (
    tenant_id text NOT NULL,
    catalog_id text NOT NULL,
    generation integer NOT NULL,
    listing_id text NOT NULL,
    item_id text,
    home_item_id text,
    source_id text,
    listing_key text,
    serial integer,
    url text,
    group_key text,
    via text,
    score text,
    evidence text,
    because text,
    revision bigint NOT NULL,
    position bigint NOT NULL,
    decision_id text NOT NULL,
    occurred_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, catalog_id, generation, listing_id),
    CONSTRAINT mapping_set_or_cleared CHECK (
        num_nulls(item_id, home_item_id, source_id, listing_key, serial, via, evidence) IN (0, 7)
    ),
    CONSTRAINT mapping_cleared_says_why CHECK ((item_id IS NULL) = (because IS NOT NULL)),
    CONSTRAINT mapping_evidence_is_json CHECK (evidence IS NULL OR evidence IS JSON ARRAY),
    CONSTRAINT mapping_revision_from_one CHECK (revision >= 1)
) WITH (fillfactor = 80);
CREATE INDEX mapping_by_item ON mapping (tenant_id, catalog_id, generation, item_id);

-- An accepted value with its evidence, or, once cleared, null and the reason. line is '' where there is none.
-- search: the value folded for searching, where its name is one that people search by.
CREATE TABLE attribute (
    tenant_id text NOT NULL,
    catalog_id text NOT NULL,
    generation integer NOT NULL,
    attribute_id text NOT NULL,
    owner_type text NOT NULL,
    owner_id text NOT NULL,
    name text NOT NULL,
    line text NOT NULL,
    value text,
    by text,
    evidence text,
    because text,
    search text,
    revision bigint NOT NULL,
    position bigint NOT NULL,
    decision_id text NOT NULL,
    occurred_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, catalog_id, generation, attribute_id),
    CONSTRAINT attribute_value_once UNIQUE (tenant_id, catalog_id, generation, owner_id, name, line),
    CONSTRAINT attribute_owner_known CHECK (owner_type IN ('item', 'listing')),
    CONSTRAINT attribute_by_known CHECK (by IN ('rule', 'person')),
    CONSTRAINT attribute_set_or_cleared CHECK (num_nulls(value, by, evidence) IN (0, 3)),
    CONSTRAINT attribute_cleared_says_why CHECK ((value IS NULL) = (because IS NOT NULL)),
    CONSTRAINT attribute_value_is_json CHECK (value IS NULL OR value IS JSON OBJECT),
    CONSTRAINT attribute_evidence_is_json CHECK (evidence IS NULL OR evidence IS JSON ARRAY),
    CONSTRAINT attribute_revision_from_one CHECK (revision >= 1)
) WITH (fillfactor = 80);
CREATE INDEX attribute_search ON attribute
    USING gin (tenant_id, catalog_id, generation, search gin_trgm_ops) WHERE search IS NOT NULL;

-- Row level security hides an index from LIKE, which is not leakproof. This function is not under the caller's policy
-- and sets the same fence itself: the tenant of the transaction, and no other.
CREATE FUNCTION attribute_owners_matching(wanted_catalog text, wanted_generation integer, patterns text[])
RETURNS TABLE (owner_type text, owner_id text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public
AS $$
    SELECT DISTINCT a.owner_type, a.owner_id FROM public.attribute a
    WHERE a.tenant_id = current_setting('assay.tenant_id', true)
      AND a.catalog_id = wanted_catalog AND a.generation = wanted_generation
      AND a.search LIKE ANY (patterns)
$$;
REVOKE ALL ON FUNCTION attribute_owners_matching(text, integer, text[]) FROM PUBLIC;
