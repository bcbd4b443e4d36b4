-- Seeds meet what is known, within one bucket.
-- reads: crawldb, seeds
-- params: now, mode, default_score, default_interval

-- step: merged_seeds (kept)
-- Lines that name one URL are one seed: of score, interval and metadata, the last line that gives it counts.
SELECT
    url AS seed_url,
    any_value(url_key) AS seed_url_key,
    any_value(host) AS seed_host,
    any_value(host_key) AS seed_host_key,
    any_value(domain) AS seed_domain,
    any_value(bucket) AS seed_bucket,
    max_by(score, line) FILTER (WHERE score IS NOT NULL) AS seed_score,
    max_by(fetch_interval, line) FILTER (WHERE fetch_interval IS NOT NULL) AS seed_interval,
    max_by(metadata, line) FILTER (WHERE cardinality(metadata) > 0) AS seed_metadata
FROM seeds
GROUP BY url

-- step: met
-- Fresh rows begin anew: those of unknown URLs and, to overwrite, of all seeds. To update, the rest take what is given.
SELECT
    c.*,
    s.*,
    c.url IS NULL OR (:mode = 'overwrite' AND s.seed_url IS NOT NULL) AS fresh,
    :mode = 'update' AND s.seed_url IS NOT NULL AS updated
FROM crawldb AS c
FULL OUTER JOIN merged_seeds AS s ON c.url_key = s.seed_url_key AND c.url = s.seed_url

-- step: injected (kept)
SELECT
    coalesce(url, seed_url) AS url,
    coalesce(url_key, seed_url_key) AS url_key,
    coalesce(host, seed_host) AS host,
    coalesce(host_key, seed_host_key) AS host_key,
    coalesce(domain, seed_domain) AS domain,
    CAST(coalesce(bucket, seed_bucket) AS INTEGER) AS bucket,
    CASE WHEN fresh THEN 'db_unfetched' ELSE status END AS status,
    CASE WHEN fresh THEN CAST(:now AS TIMESTAMPTZ) ELSE fetch_time END AS fetch_time,
    CAST(CASE
        WHEN fresh THEN coalesce(seed_interval, :default_interval)
        WHEN updated THEN coalesce(seed_interval, fetch_interval)
        ELSE fetch_interval
    END AS INTEGER) AS fetch_interval,
    CASE WHEN NOT fresh THEN last_fetch_time END AS last_fetch_time,
    CASE WHEN NOT fresh THEN modified_time END AS modified_time,
    CASE WHEN fresh THEN CAST(:now AS TIMESTAMPTZ) ELSE first_seen END AS first_seen,
    CASE WHEN fresh THEN CAST(0 AS SMALLINT) ELSE retries END AS retries,
    CAST(CASE
        WHEN fresh THEN coalesce(seed_score, :default_score)
        WHEN updated THEN coalesce(seed_score, score)
        ELSE score
    END AS FLOAT) AS score,
    CASE WHEN fresh THEN 0 ELSE inlinks END AS inlinks,
    CASE WHEN fresh THEN CAST(0 AS SMALLINT) ELSE depth END AS depth,
    CASE WHEN NOT fresh THEN signature END AS signature,
    CASE WHEN NOT fresh THEN etag END AS etag,
    CASE WHEN NOT fresh THEN last_modified END AS last_modified,
    CASE WHEN NOT fresh THEN generate_time END AS generate_time,
    CASE
        WHEN fresh THEN coalesce(seed_metadata, CAST(MAP {} AS MAP(VARCHAR, VARCHAR)))
        WHEN updated AND seed_metadata IS NOT NULL THEN map_concat(metadata, seed_metadata)
        ELSE metadata
    END AS metadata
FROM met

-- step: inject_counts (kept)
SELECT
    (SELECT count(*) FROM merged_seeds) AS urls,
    (SELECT count(*) FROM injected) - (SELECT count(*) FROM crawldb) AS new
