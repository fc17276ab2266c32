//! `narthex graph list`.

use narthex_server::owner::{GraphReply, GraphRequest, GraphShown};

use super::{ask, short};
use crate::cli::GraphListArgs;
use crate::commands::unexpected;
use crate::output::table::{self, Column, Said, bad};
use crate::{Context, Exit, Failure, output};

pub(super) async fn run(context: &Context, args: &GraphListArgs) -> Result<Exit, Failure> {
    let request = GraphRequest::List { space: args.space.clone() };
    let GraphReply::Graphs(graphs) = ask(context, request).await? else {
        return Err(unexpected());
    };
    if context.is_json() {
        output::json(&graphs)?;
    } else if graphs.is_empty() {
        output::text("No graphs here.")?;
    } else {
        output::text(table::rows(&COLUMNS, graphs.iter().map(row)))?;
    }
    Ok(Exit::Done)
}

/// One graph, fact by fact.
pub(super) fn facts(graph: &GraphShown) -> String {
    let facts: [(&str, Said); 6] = [
        ("graph", graph.slug.to_string().into()),
        ("id", graph.id.to_string().into()),
        ("space", graph.space.to_string().into()),
        ("commit", graph.commit.to_string().into()),
        ("types", types(graph).into()),
        ("stored", stored(graph)),
    ];
    table::facts(facts)
}

fn row(graph: &GraphShown) -> [Said; 7] {
    [
        graph.slug.to_string().into(),
        graph.space.to_string().into(),
        short(graph.commit).into(),
        graph.branches.to_string().into(),
        types(graph).into(),
        stored(graph),
        table::moment(graph.created).into(),
    ]
}

fn types(graph: &GraphShown) -> String {
    format!("{} node, {} edge", graph.node_types, graph.edge_types)
}

fn stored(graph: &GraphShown) -> Said {
    match graph.stored {
        Some(count) => count.to_string().into(),
        None => bad("do not hold"),
    }
}

const COLUMNS: [Column; 7] = [
    Column::Whole("GRAPH"),
    Column::Whole("SPACE"),
    Column::Whole("MAIN AT"),
    Column::Whole("BRANCHES"),
    Column::Flows("TYPES"),
    Column::Flows("STORED"),
    Column::Flows("CREATED"),
];
