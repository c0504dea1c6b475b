-- The operator's command may close the history epoch and open the next one, with all that begins anew in it.
GRANT INSERT, UPDATE (state) ON history_epoch TO assay_operator;
GRANT SELECT, INSERT ON cursor TO assay_operator;
GRANT SELECT ON change, decision, item, mapping, attribute, job TO assay_operator;
GRANT UPDATE (history_epoch, payload, sent_topic_id, sent_partition, sent_offset) ON job TO assay_operator;
GRANT SELECT, INSERT ON snapshot TO assay_operator;
GRANT INSERT ON retention_act TO assay_operator;
