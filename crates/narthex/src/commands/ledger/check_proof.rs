//! `narthex ledger check-proof`: needs the proof and the public key, and nothing else.

use std::path::Path;

use narthex_verify::{
    Checkpoint, ConsistencyProof, InclusionProof, NoProof, Proof, PublicKey, hex,
};
use serde_json::json;

use super::prove::not_kept;
use super::verify::{no_key, public_key, read};
use crate::cli::LedgerCheckProofArgs;
use crate::output::table;
use crate::{Context, Exit, Failure, output};

pub(super) fn run(context: &Context, args: &LedgerCheckProofArgs) -> Result<Exit, Failure> {
    let key = public_key(context, args.public_key.as_deref())?.ok_or_else(no_key)?;
    let proof = Proof::read(&read(&args.file)?).map_err(|error| {
        Failure::new(Exit::LedgerBroken, format!("this is not a proof: {error}"))
    })?;
    match (proof, &args.since) {
        (Proof::Inclusion(proof), None) => included(context, &proof, &key)?,
        (Proof::Consistency(proof), kept) => grown(context, &proof, &key, kept.as_deref())?,
        (Proof::Inclusion(_), Some(_)) => {
            let message = "this is the proof of a record, which has no beginning to hold against";
            return Err(Failure::new(Exit::Usage, message).hint("leave --since out"));
        }
    }
    Ok(Exit::Done)
}

fn included(context: &Context, proof: &InclusionProof, key: &PublicKey) -> Result<(), Failure> {
    let said = proof.check(key).map_err(|why| unproven(&why))?;
    if context.is_json() {
        return output::json(&json!({
            "ok": true,
            "seq": proof.seq,
            "record": proof.record,
            "size": said.size,
            "root": hex(&said.root),
            "signed_by": key.name(),
        }));
    }
    let facts = table::facts([
        ("in", point(&said)),
        ("signed by", key.name().to_owned()),
        ("record", proof.record.clone()),
    ]);
    output::text(format!("ok: record {} is in the ledger\n{facts}", proof.seq))
}

fn grown(
    context: &Context,
    proof: &ConsistencyProof,
    key: &PublicKey,
    kept: Option<&Path>,
) -> Result<(), Failure> {
    let (old, new) = proof.check(key).map_err(|why| unproven(&why))?;
    if let Some(file) = kept {
        let kept = key.checkpoint(&read(file)?).map_err(|why| not_kept(Some(file), why))?;
        if kept != old {
            let message = format!(
                "the proof begins at {}, and not at the checkpoint that was kept, {}",
                point(&old),
                point(&kept)
            );
            return Err(Failure::new(Exit::LedgerBroken, message)
                .hint("ask for a proof since the checkpoint you have"));
        }
    }
    if context.is_json() {
        let said = |point: &Checkpoint| json!({"size": point.size, "root": hex(&point.root)});
        return output::json(&json!({
            "ok": true,
            "old": said(&old),
            "new": said(&new),
            "signed_by": key.name(),
        }));
    }
    let facts = table::facts([
        ("from", point(&old)),
        ("to", point(&new)),
        ("signed by", key.name().to_owned()),
    ]);
    let (from, to) = (old.size, new.size);
    output::text(format!("ok: the first {from} of the {to} records are as they were\n{facts}"))
}

fn point(said: &Checkpoint) -> String {
    format!("{}:{}", said.size, hex(&said.root))
}

fn unproven(why: &NoProof) -> Failure {
    Failure::new(Exit::LedgerBroken, why.to_string())
        .hint("ask for another proof, and check that the key is the right one")
}
