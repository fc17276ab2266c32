//! The same before TypeScript itself: what is declared compiles, calls that fit are accepted, calls
//! that do not are refused. Needs `node` and `npm`; the compiler is installed once, into `TSC_DIR`
//! or `target/tsc`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "tests"
)]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use super::support::{HOSTILE, Random, sampled, wild};
use narthex_sandbox::types::{Function, declare, prelude};
use serde_json::{Value, json};

#[test]
fn any_schema_compiles() {
    let mut files = Vec::new();
    for file in 0..10 {
        let documents: Vec<(Value, Value)> = (0..40)
            .map(|n| {
                let random = &mut Random::new(file * 1_000 + n);
                (wild::document(random), wild::document(random))
            })
            .collect();
        let names: Vec<String> = (0..documents.len()).map(|n| format!("f_{n}")).collect();
        let functions: Vec<Function<'_>> = documents
            .iter()
            .zip(&names)
            .map(|((input, output), name)| Function { output: Some(output), ..plain(name, input) })
            .collect();
        files.push((format!("wild{file}.d.ts"), declare(&format!("wild-{file}"), "", &functions)));
    }
    check("wild", &files).unwrap();
}

#[test]
fn schemas_that_multiply_compile() {
    let choices = |n: usize| {
        let some: Vec<Value> =
            (0..20).map(|m| json!({ "properties": { format!("p{n}_{m}"): {} } })).collect();
        json!({ "anyOf": some })
    };
    let all: Vec<Value> = (0..8).map(choices).collect();
    let wide = json!({ "allOf": all });
    let defs: serde_json::Map<String, Value> = (0..100)
        .map(|n| {
            let next = json!({ "$ref": format!("#/$defs/d{}", n + 1) });
            (format!("d{n}"), json!({ "allOf": [{ "anyOf": [next, choices(n)] }, { "oneOf": [next, { "type": "string" }] }] }))
        })
        .collect();
    let chain = json!({ "$ref": "#/$defs/d0", "$defs": defs });
    let functions = [plain("wide", &wide), plain("chain", &chain)];
    check("multiply", &[("m.d.ts".to_owned(), declare("m", "", &functions))]).unwrap();
}

#[test]
fn calls_are_told_apart() {
    let mut files = Vec::new();
    let mut refused = 0;
    for file in 0..8 {
        let samples: Vec<sampled::Sample> = (0..50)
            .map(|n| sampled::document(&mut Random::new(77_000 + file * 1_000 + n)))
            .collect();
        let names: Vec<String> = (0..samples.len()).map(|n| format!("f_{n}")).collect();
        let functions: Vec<Function<'_>> =
            samples.iter().zip(&names).map(|(s, name)| plain(name, &s.schema)).collect();
        let mut program = format!("import * as m from \"host:sampled-{file}\";\n");
        for (sample, name) in samples.iter().zip(&names) {
            writeln!(program, "m.{name}({});", typescript(&sample.good)).unwrap();
            if let Some(bad) = &sample.bad {
                refused += 1;
                writeln!(program, "// @ts-expect-error\nm.{name}({});", typescript(bad)).unwrap();
            }
        }
        files.push((
            format!("sampled{file}.d.ts"),
            declare(&format!("sampled-{file}"), "", &functions),
        ));
        files.push((format!("calls{file}.ts"), program));
    }
    assert!(refused > 300, "{refused}");
    check("sampled", &files).unwrap();
}

#[test]
fn programs_compile_and_wrong_ones_do_not() {
    let forecast = json!({
        "type": "object",
        "properties": { "location": { "type": "string" }, "days": { "type": "integer" } },
        "required": ["location"],
    });
    let days = json!({
        "type": "object",
        "properties": { "days": { "type": "array", "items": { "type": "object", "properties": { "high": { "type": "number" } }, "required": ["high"] } } },
        "required": ["days"],
    });
    let search = json!({ "type": "object", "properties": { "text": { "type": "string" } } });
    let none = json!({ "type": "object", "additionalProperties": false });
    let keywords: serde_json::Map<String, Value> = KEYWORDS
        .split_whitespace()
        .map(|word| (word.to_owned(), json!({ "type": "string" })))
        .collect();
    let keywords = json!({ "type": "object", "properties": keywords });
    let mut functions = vec![
        Function { output: Some(&days), ..plain("get_forecast", &forecast) },
        plain("search", &search),
        Function { output: Some(&days), ..plain("ping", &none) },
        plain("keywords", &keywords),
    ];
    functions.extend(KEYWORDS.split_whitespace().map(|word| plain(word, &forecast)));
    let other = [plain("other", &none)];
    let files = [
        ("weather.d.ts".to_owned(), declare("host:mcp-weather", "Weather.", &functions)),
        ("other.d.ts".to_owned(), declare("host:other", "", &other)),
        ("required.ts".to_owned(), PROGRAM.to_owned()),
        ("imported.ts".to_owned(), IMPORTED.to_owned()),
    ];
    check("programs", &files).unwrap();
}

#[test]
fn nothing_leaves_its_place() {
    let mut files = vec![(PWNED.0.to_owned(), PWNED.1.to_owned())];
    for (n, text) in HOSTILE.iter().enumerate() {
        let schema = json!({
            "type": "object", "title": text, "description": text,
            "properties": {
                *text: { "description": text, "format": text, "pattern": text, "default": text },
                "e": { "enum": [text, { *text: [text] }] },
                "r": { "$ref": format!("#/$defs/{}", text.replace('~', "~0").replace('/', "~1")) },
                "o": { "$ref": text }, "t": { "type": text }, "m": { "patternProperties": { *text: { "const": text } } },
            },
            "required": [text],
            "$defs": { *text: { "description": text, "type": "object", "properties": { "again": { "$ref": "#" } } } },
        });
        let notes = [(*text).to_owned()];
        let function = |identifier| Function {
            identifier,
            name: text,
            title: text,
            description: text,
            input: &schema,
            output: Some(&schema),
            notes: &notes,
        };
        let functions = [function("f"), function(text), function("default")];
        files.push((format!("hostile{n}.d.ts"), declare(&format!("{n}{text}"), text, &functions)));
    }
    check("hostile", &files).unwrap();
}

/// No text tells the compiler to look away from the file it stands in.
#[test]
fn nothing_speaks_to_the_compiler() {
    let none = json!({ "type": "object", "properties": {} });
    let files: Vec<(String, String)> = HOSTILE
        .iter()
        .chain(&["@ts-nocheck", "@ts-ignore", "@ts-expect-error", "x @ts-ignore", "@jsx f"])
        .enumerate()
        .map(|(n, text)| {
            let function = Function { description: text, ..plain("f", &none) };
            let wrong = format!("declare const wrong{n}: NoSuchType;\n");
            (format!("head{n}.d.ts"), declare(&format!("h{n}"), text, &[function]) + &wrong)
        })
        .collect();
    let Some(_) = compiler() else { return };
    let said = check("head", &files).unwrap_err();
    for (name, _) in &files {
        assert!(said.contains(&format!("{name}(")), "{name}: {said}");
    }
    assert_eq!(said.matches("error TS").count(), files.len(), "{said}");
}

/// The tests above can fail.
#[test]
fn what_is_wrong_is_found() {
    let schema = json!({ "type": "object", "properties": { "a": { "type": "string" } } });
    let fine = ("m.d.ts".to_owned(), declare("m", "", &[plain("f", &schema)]));
    let pwned = (PWNED.0.to_owned(), PWNED.1.to_owned());
    let program =
        |text: &str| ("p.ts".to_owned(), format!("import {{ f }} from \"host:m\";\n{text}\n"));
    let Some(_) = compiler() else { return };
    check("control", &[fine.clone(), pwned.clone(), program("f({ a: \"x\" });")]).unwrap();
    for (name, files) in [
        ("control1", vec![fine.clone(), program("f({ a: 1 });")]),
        ("control2", vec![fine.clone(), program("// @ts-expect-error\nf({ a: \"x\" });")]),
        (
            "control3",
            vec![("x.d.ts".to_owned(), "declare const PWNED: number;\n".to_owned()), pwned],
        ),
        (
            "control4",
            vec![(
                "x.d.ts".to_owned(),
                "interface A { a?: string; [key: string]: string }\n".to_owned(),
            )],
        ),
    ] {
        assert!(check(name, &files).is_err(), "{name}");
    }
}

fn plain<'a>(identifier: &'a str, input: &'a Value) -> Function<'a> {
    Function {
        identifier,
        name: identifier,
        title: "",
        description: "",
        input,
        output: None,
        notes: &[],
    }
}

/// A value in a program. To TypeScript two more characters end a line.
fn typescript(value: &Value) -> String {
    value.to_string().replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

/// Compiles these files with the prelude. What the compiler says, if it says anything.
fn check(name: &str, files: &[(String, String)]) -> Result<(), String> {
    let Some(root) = compiler() else { return Ok(()) };
    let folder = root.join("work").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("prelude.d.ts"), prelude()).unwrap();
    let mut command = Command::new("node");
    command.arg(root.join("node_modules/typescript/bin/tsc")).args(OPTIONS).arg("prelude.d.ts");
    for (file, text) in files {
        std::fs::write(folder.join(file), text).unwrap();
        command.arg(file);
    }
    let output = command.current_dir(&folder).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{}\n{said}", folder.display()).chars().take(20_000).collect())
}

/// Where the compiler is, if there can be one on this machine.
fn compiler() -> Option<&'static Path> {
    static COMPILER: OnceLock<Option<PathBuf>> = OnceLock::new();
    COMPILER.get_or_init(install).as_deref()
}

fn install() -> Option<PathBuf> {
    for program in ["node", "npm"] {
        let found = Command::new(program).arg("--version").stdout(Stdio::null()).status();
        if !found.is_ok_and(|status| status.success()) {
            eprintln!("skipped: {program} is not there, so nothing was compiled");
            return None;
        }
    }
    #[expect(clippy::disallowed_methods, reason = "where a test keeps its tools")]
    let folder = std::env::var_os("TSC_DIR").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tsc"),
        PathBuf::from,
    );
    if !folder.join("node_modules/typescript/bin/tsc").exists() {
        std::fs::create_dir_all(&folder).unwrap();
        let options = ["install", "--no-audit", "--no-fund", "--silent", "--prefix"];
        let status = Command::new("npm").args(options).arg(&folder).arg("typescript@5.9").status();
        assert!(status.is_ok_and(|status| status.success()), "npm could not install typescript");
    }
    Some(folder)
}

const OPTIONS: &[&str] = &[
    "--noEmit",
    "--strict",
    "--lib",
    "es2022",
    "--target",
    "es2022",
    "--module",
    "es2022",
    "--moduleResolution",
    "bundler",
    "--skipLibCheck",
    "false",
    "--pretty",
    "false",
];

const PWNED: (&str, &str) = ("pwned.ts", "// @ts-expect-error\nPWNED;\nexport {};\n");

/// Words that mean something to TypeScript, to every object or to the prelude.
const KEYWORDS: &str = "\
    abstract any arguments as async await boolean break case catch class const constructor \
    continue debugger declare default delete do else enum eval export exports extends false \
    finally for from function get global globalThis if implements import in infer instanceof \
    interface is keyof let module namespace never new null number object of out override \
    package private protected public readonly require return satisfies set static string \
    super switch symbol then this throw toString true try type typeof undefined unique \
    unknown using var void while with yield __proto__ prototype hasOwnProperty HostError \
    HostFunction Object Promise Tried";

const PROGRAM: &str = include_str!("programs/required.ts");

const IMPORTED: &str = include_str!("programs/imported.ts");
