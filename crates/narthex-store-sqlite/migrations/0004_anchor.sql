-- The gate's state is tied to the end of the ledger: a MAC over the head and the seal over latches,
-- switches and settings, renewed with every commit. An older state, genuine as it is, does not fit.
ALTER TABLE ledger_head ADD COLUMN gate BLOB CHECK (length(gate) = 32);
