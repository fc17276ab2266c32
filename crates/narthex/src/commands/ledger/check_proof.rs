//! `narthex ledger check-proof`: needs the proof and the public key, and nothing else.

use narthex_verify::{InclusionProof, hex};
use serde_json::json;

use super::verify::{no_key, public_key, read};
use crate::cli::LedgerCheckProofArgs;
use crate::output::table;
use crate::{Context, Exit, Failure, output};

pub(super) fn run(context: &Context, args: &LedgerCheckProofArgs) -> Result<Exit, Failure> {
    let key = public_key(context, args.public_key.as_deref())?.ok_or_else(no_key)?;
    let unproven = |why: String| Failure::new(Exit::LedgerBroken, why);
    let proof: InclusionProof = serde_json::from_str(&read(&args.file)?)
        .map_err(|error| unproven(format!("this is not a proof: {error}")))?;
    let said = proof.check(&key).map_err(|why| {
        unproven(why.to_string())
            .hint("ask for another proof, and check that the key is the right one")
    })?;
    if context.is_json() {
        output::json(&json!({
            "ok": true,
            "seq": proof.seq,
            "record": proof.record,
            "size": said.size,
            "root": hex(&said.root),
            "signed_by": key.name(),
        }))?;
    } else {
        let facts = table::facts([
            ("in", format!("{}:{}", said.size, hex(&said.root))),
            ("signed by", key.name().to_owned()),
            ("record", proof.record.clone()),
        ]);
        output::text(format!("ok: record {} is in the ledger\n{facts}", proof.seq))?;
    }
    Ok(Exit::Done)
}
