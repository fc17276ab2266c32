//! The engine: a schema, a set of policies, and one way to ask.

use cedar_policy::{
    Authorizer, Decision, Entities, Policy, PolicyId, PolicySet, Request, Schema, ValidationMode,
    Validator,
};
use narthex_core::{BranchAsk, Digest, Question, Reason, Target};

use crate::entities::{Asker, Names, Unaskable, context};
use crate::{PolicyFault, SCHEMA, STANDARD};

/// Policies in force.
#[derive(Debug)]
pub struct PolicyEngine {
    schema: Schema,
    names: Names,
    policies: PolicySet,
    authorizer: Authorizer,
    version: Digest,
}

/// What policy says, and which policies said it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    permitted: bool,
    policies: Vec<String>,
    errors: Vec<String>,
}

impl Verdict {
    /// Whether it is permitted.
    pub const fn is_permitted(&self) -> bool {
        self.permitted
    }

    /// The policies that determined it; none means that no permit matched.
    pub fn policies(&self) -> &[String] {
        &self.policies
    }

    /// What went wrong while deciding; anything here is a denial.
    pub fn errors(&self) -> &[String] {
        &self.errors
    }

    /// The reason as the ledger keeps it.
    pub fn reason(&self) -> Reason {
        match (self.permitted, self.errors.is_empty()) {
            (true, _) => Reason::Permitted,
            (false, true) => Reason::PolicyDenied,
            (false, false) => Reason::PolicyError,
        }
    }
}

impl PolicyEngine {
    /// The standard policy alone.
    pub fn standard() -> Result<Self, PolicyFault> {
        Self::with_files(&[])
    }

    /// The standard policy and the owner's files (name and text). One fault refuses all of it.
    pub fn with_files(files: &[(String, String)]) -> Result<Self, PolicyFault> {
        let (schema, _) = Schema::from_cedarschema_str(SCHEMA)
            .map_err(|error| PolicyFault::Schema(error.to_string()))?;
        let mut policies = PolicySet::new();
        add(&mut policies, &schema, "standard", STANDARD)?;
        for (name, text) in files {
            add(&mut policies, &schema, name, text)?;
        }
        let names = Names::new().map_err(PolicyFault::Schema)?;
        let version = version(files);
        Ok(Self { schema, names, policies, authorizer: Authorizer::new(), version })
    }

    /// A digest of schema and policies: what an approval is bound to.
    pub const fn version(&self) -> Digest {
        self.version
    }

    /// How many policies there are.
    pub fn count(&self) -> usize {
        self.policies.policies().count()
    }

    /// Whether there is anything to decide by.
    pub fn is_in_force(&self) -> bool {
        !self.policies.is_empty()
    }

    /// Decides one question.
    pub fn decide(&self, asker: &Asker<'_>, question: &Question) -> Verdict {
        match self.ask(asker, question) {
            Ok(verdict) => verdict,
            Err(error) => Verdict { permitted: false, policies: Vec::new(), errors: vec![error] },
        }
    }

    fn ask(&self, asker: &Asker<'_>, question: &Question) -> Result<Verdict, Unaskable> {
        let entities = self.names.entities(asker, question, &self.schema)?;
        let some = asks_for_some(question);
        let request = Request::new(
            self.names.principal(asker),
            self.names.action(question.action)?,
            self.names.resource(&question.target),
            context(question)?,
            // What is not known has no type yet; the rest is of our own making.
            (!some).then_some(&self.schema),
        )
        .map_err(|error| error.to_string())?;
        if some {
            return Ok(self.could_be(&request, &entities));
        }
        let response = self.authorizer.is_authorized(&request, &self.policies, &entities);
        let errors: Vec<String> =
            response.diagnostics().errors().map(ToString::to_string).collect();
        let mut policies: Vec<String> =
            response.diagnostics().reason().map(ToString::to_string).collect();
        policies.sort_unstable();
        // INVARIANT: an error while deciding denies, also where some permit matched.
        let permitted = response.decision() == Decision::Allow && errors.is_empty();
        Ok(Verdict { permitted, policies, errors })
    }
}

impl PolicyEngine {
    /// Permitted unless it is denied whatever the branch.
    fn could_be(&self, request: &Request, entities: &Entities) -> Verdict {
        let response = self.authorizer.is_authorized_partial(request, &self.policies, entities);
        let permitted = response.decision() != Some(Decision::Deny);
        Verdict { permitted, policies: Vec::new(), errors: Vec::new() }
    }
}

/// Whether a question leaves open which branch it is about.
fn asks_for_some(question: &Question) -> bool {
    let Target::Graph(graph) = &question.target else { return false };
    [&graph.branch, &graph.into].contains(&&BranchAsk::Any)
}

fn add(set: &mut PolicySet, schema: &Schema, file: &str, text: &str) -> Result<(), PolicyFault> {
    let parsed: PolicySet =
        text.parse().map_err(|error: cedar_policy::ParseErrors| syntax(file, &error))?;
    if let Some(template) = parsed.templates().next() {
        let message = format!("{} is a template; write it as a policy", template.id());
        return Err(PolicyFault::Syntax { file: file.to_owned(), message, span: None });
    }
    let validation = Validator::new(schema.clone()).validate(&parsed, ValidationMode::Strict);
    if let Some(fault) = validation.validation_errors().next() {
        return Err(PolicyFault::Invalid {
            file: file.to_owned(),
            policy: fault.policy_id().to_string(),
            message: fault.to_string(),
            span: span(fault),
        });
    }
    for policy in parsed.policies() {
        let id = named(file, policy);
        let doubled = PolicyFault::Doubled { file: file.to_owned(), policy: id.to_string() };
        set.add(policy.new_id(id)).map_err(|_| doubled)?;
    }
    Ok(())
}

/// A policy goes by its `@id`, or by its file and number.
fn named(file: &str, policy: &Policy) -> PolicyId {
    match policy.annotation("id") {
        Some(id) if !id.is_empty() => PolicyId::new(id),
        _ => PolicyId::new(format!("{file}:{}", policy.id())),
    }
}

fn syntax(file: &str, error: &cedar_policy::ParseErrors) -> PolicyFault {
    PolicyFault::Syntax { file: file.to_owned(), message: error.to_string(), span: span(error) }
}

fn span(fault: &impl miette::Diagnostic) -> Option<(usize, usize)> {
    let label = fault.labels()?.next()?;
    Some((label.offset(), label.len()))
}

fn version(files: &[(String, String)]) -> Digest {
    let mut all = vec![SCHEMA, STANDARD];
    all.extend(files.iter().flat_map(|(name, text)| [name.as_str(), text.as_str()]));
    let framed: Vec<u8> = all
        .iter()
        .flat_map(|text| (text.len() as u64).to_be_bytes().into_iter().chain(text.bytes()))
        .collect();
    Digest::of(&framed)
}

#[cfg(test)]
mod tests;
