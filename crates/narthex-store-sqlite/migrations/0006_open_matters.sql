-- Requests for approval that wait, or are approved and not used, and proposals that wait: the seal
-- over the gate's state is over the MACs of those too, and each start looks at all of them.
CREATE INDEX approvals_open ON approvals (id) WHERE status IN ('waiting', 'approved');
CREATE INDEX proposals_open ON proposals (id) WHERE status = 'pending';
