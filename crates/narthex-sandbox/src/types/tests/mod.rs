//! What schemas come out as.

mod bounds;

use serde_json::{Value, json};

use super::{Function, declare, signature};

fn function<'a>(identifier: &'a str, input: &'a Value, output: Option<&'a Value>) -> Function<'a> {
    Function { identifier, name: identifier, title: "", description: "", input, output, notes: &[] }
}

fn declared(input: &Value) -> String {
    declare("host:m", "", &[function("f", input, None)])
}

/// A property with this schema, in one line.
fn property(schema: &Value) -> String {
    let all =
        signature(&json!({ "type": "object", "properties": { "p": schema }, "required": ["p"] }));
    all.strip_prefix("{ p: ").unwrap().strip_suffix(" }").unwrap().to_owned()
}

#[test]
fn a_module_reads_well() {
    let input = json!({
        "type": "object",
        "properties": {
            "location": { "type": "string", "description": "A city.\nOr a place." },
            "days": { "type": "integer", "minimum": 1, "maximum": 14, "default": 3 },
            "units": { "enum": ["metric", "imperial"] },
            "near": { "$ref": "#/$defs/point" }
        },
        "required": ["location"],
        "$defs": { "point": {
            "description": "On a map.",
            "type": "object",
            "properties": { "at": { "type": "array", "prefixItems": [{ "type": "number" }, { "type": "number" }], "items": false } },
            "required": ["at"],
        } }
    });
    let output = json!({ "type": "array", "items": { "type": "object", "properties": { "high": { "type": ["number", "null"] } } } });
    let notes = ["Asks before it is called.".to_owned()];
    let none = json!({ "type": "object", "properties": {} });
    let functions = [
        Function {
            identifier: "get_forecast",
            name: "get-forecast",
            title: "Forecast",
            description: "The weather of the next days.",
            input: &input,
            output: Some(&output),
            notes: &notes,
        },
        function("ping", &none, None),
    ];
    let expected = r#"declare function require(module: "host:mcp-weather"): typeof import("host:mcp-weather");

/** Weather. */
declare module "host:mcp-weather" {
  export interface GetForecastInput {
    /**
     * A city.
     * Or a place.
     */
    location: string;
    /** integer; minimum: 1; maximum: 14; default: 3 */
    days?: number;
    units?: "metric" | "imperial";
    near?: GetForecastPoint;
  }
  /** On a map. */
  export interface GetForecastPoint {
    at: [number, number];
  }
  export type GetForecastOutput = {
    high?: number | null;
  }[];
  /**
   * Forecast
   * The weather of the next days.
   * Its server calls it "get-forecast".
   * Asks before it is called.
   */
  export const get_forecast: HostFunction<GetForecastInput, GetForecastOutput>;

  export const ping: HostFunctionWithoutInput<any>;
  export {};
}
"#;
    assert_eq!(declare("host:mcp-weather", "Weather.", &functions), expected);
    // The prefix is ours to give.
    assert_eq!(declare("mcp-weather", "Weather.", &functions), expected);
}

#[test]
fn each_keyword_has_its_type() {
    for (schema, expected) in [
        (json!(true), "any"),
        (json!(false), "never"),
        (json!({}), "any"),
        (json!(7), "any"),
        (json!({ "type": "string" }), "string"),
        (json!({ "type": "integer" }), "number"),
        (json!({ "type": "file" }), "any"),
        (json!({ "type": ["string", "null"] }), "string | null"),
        (json!({ "type": "string", "nullable": true }), "string | null"),
        (
            json!({ "type": ["array", "object"], "items": { "type": "string" } }),
            "string[] | { [key: string]: any }",
        ),
        // Values.
        (json!({ "const": "a\"b" }), r#""a\"b""#),
        (
            json!({ "const": { "a": [1, null], "b-c": {} } }),
            r#"{ a: [1, null]; "b-c": { [key: string]: never } }"#,
        ),
        (json!({ "enum": ["a", 1, -1.5, true, null, "a"] }), r#""a" | 1 | -1.5 | true | null"#),
        (json!({ "enum": [1e300, u64::MAX] }), "1e+300 | 18446744073709551615"),
        (json!({ "enum": ["a", 1], "type": "string" }), r#""a""#),
        (json!({ "enum": ["a"], "type": "integer" }), r#""a""#),
        (json!({ "enum": ["a"], "nullable": true }), r#""a" | null"#),
        (json!({ "enum": [] }), "never"),
        // Arrays.
        (json!({ "type": "array" }), "any[]"),
        (json!({ "items": { "type": ["string", "number"] } }), "(string | number)[]"),
        (json!({ "type": "array", "items": false }), "[]"),
        (json!({ "prefixItems": [{ "type": "string" }] }), "[string, ...any[]]"),
        (
            json!({ "prefixItems": [{ "type": "string" }], "items": { "enum": [1, 2] } }),
            "[string, ...(1 | 2)[]]",
        ),
        (
            json!({ "prefixItems": [{ "type": "string" }, { "enum": [1, 2] }], "minItems": 1, "maxItems": 2 }),
            "[string, (1 | 2)?]",
        ),
        (json!({ "items": [{ "type": "string" }], "additionalItems": false }), "[string]"),
        // Objects.
        (json!({ "type": "object" }), "{ [key: string]: any }"),
        (json!({ "type": "object", "additionalProperties": false }), "{ [key: string]: never }"),
        (json!({ "additionalProperties": { "type": "number" } }), "{ [key: string]: number }"),
        (json!({ "properties": { "a": { "type": "string" } } }), "{ a?: string }"),
        (json!({ "properties": { "a": false } }), "{ a?: never }"),
        (json!({ "required": ["a", "a", 1] }), "{ a: any }"),
        // Every object has one already, which must not be in the way of leaving it out.
        (json!({ "properties": { "toString": { "type": "string" } } }), "{ toString?: any }"),
        (
            json!({ "properties": { "toString": { "type": "string" } }, "required": ["toString"] }),
            "{ toString: string }",
        ),
        (
            json!({ "required": ["a"], "additionalProperties": { "type": "string" } }),
            "{ a: string; [key: string]: string }",
        ),
        (
            json!({ "properties": { "__proto__": {}, "a b": {}, "\u{2028}": {} } }),
            r#"{ __proto__?: any; "a b"?: any; "\u2028"?: any }"#,
        ),
        // An index signature holds what is named too.
        (
            json!({ "properties": { "a": { "type": "string" } }, "required": ["a"], "additionalProperties": { "type": "number" } }),
            "{ a: string; [key: string]: number | string }",
        ),
        (
            json!({ "properties": { "a": { "enum": ["x", "y"] } }, "patternProperties": { "^n": { "type": "number" } } }),
            r#"{ a?: "x" | "y"; [key: string]: number | string | undefined }"#,
        ),
        (
            json!({ "properties": { "a": { "properties": { "b": {} } } }, "additionalProperties": { "type": "number" } }),
            "{ a?: { b?: any }; [key: string]: any }",
        ),
        // Schemas of schemas.
        (json!({ "anyOf": [{ "type": "string" }, { "type": "number" }] }), "string | number"),
        (json!({ "oneOf": [{ "type": "string" }, {}] }), "any"),
        (json!({ "anyOf": [] }), "any"),
        (json!({ "type": "string", "anyOf": [{ "format": "a" }, { "format": "b" }] }), "string"),
        (json!({ "allOf": [{ "type": "string" }, { "minLength": 1 }, false] }), "never"),
        (
            json!({ "allOf": [{ "properties": { "a": {} } }, { "anyOf": [{ "const": 1 }, { "const": 2 }] }] }),
            "{ a?: any } & (1 | 2)",
        ),
        (
            json!({ "items": { "allOf": [{ "properties": { "a": {} } }, { "properties": { "b": {} } }] } }),
            "({ a?: any } & { b?: any })[]",
        ),
        (
            json!({ "type": "object", "oneOf": [{ "properties": { "a": {} } }, { "properties": { "b": {} } }] }),
            "{ a?: any } | { b?: any }",
        ),
        (
            json!({ "type": "object", "properties": { "a": { "type": "string" } }, "anyOf": [{ "required": ["a"] }, { "required": ["b"] }] }),
            "{ a?: string } & ({ a: unknown } | { b: any })",
        ),
        (json!({ "not": { "type": "string" }, "if": {}, "then": { "type": "number" } }), "any"),
        // What does not lead to a schema of this document.
        (json!({ "$ref": "https://example.com/x" }), "any"),
        (json!({ "$ref": "#/nowhere" }), "any"),
        (json!({ "$ref": "#nobody" }), "any"),
        (json!({ "$ref": "other.json#/a" }), "any"),
        (json!({ "$ref": "#/required/0" }), "any"),
    ] {
        assert_eq!(property(&schema), expected, "{schema}");
    }
}

#[test]
fn references_become_names() {
    let input = json!({
        "$id": "https://example.com/me",
        "type": "object",
        "properties": {
            "a": { "$ref": "#/$defs/a%20b~1c~0" },
            "same": { "$ref": "#/%24defs/a b~1c~0" },
            "old": { "$ref": "#/definitions/0", "description": "Told here." },
            "anchored": { "$ref": "#here" },
            "full": { "$ref": "https://example.com/me#/definitions/0" },
            "self": { "$ref": "#" },
            "deep": { "$ref": "#/properties/a" },
            "null": { "$ref": "#here", "nullable": true },
        },
        "$defs": {
            "a b/c~": { "type": "string", "enum": ["x"] },
            "tree": { "$anchor": "here", "type": "object", "properties": { "kids": { "items": { "$ref": "#here" } } } },
        },
        "definitions": [{ "type": "number" }],
    });
    let text = declared(&input);
    for line in [
        "a?: FA20b1c0;",
        "same?: FA20b1c0;",
        "    /** Told here. */\n    old?: FT0;",
        "anchored?: FHere;",
        "full?: FT0;",
        "self?: FInput;",
        "deep?: FA;",
        "null?: FHere | null;",
        "export type FA20b1c0 = \"x\";",
        "export type FT0 = number;",
        "export interface FHere {\n    kids?: FHere[];\n  }",
        "export type FA = FA20b1c0;",
        "export const f: HostFunctionOptional<FInput, any>;",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
}

#[test]
fn what_is_made_of_itself_ends() {
    let refer = |name: &str| json!({ "$ref": format!("#/$defs/{name}") });
    let text = declared(&json!({
        "properties": { "a": refer("a"), "c": refer("c"), "p": refer("p") },
        "$defs": {
            "a": { "anyOf": [refer("b"), { "type": "string" }] },
            "b": { "anyOf": [refer("a"), { "type": "number" }] },
            "c": { "$ref": "#/$defs/c" },
            // Round only by way of what was read before.
            "p": { "anyOf": [{ "properties": { "q": refer("q") } }, refer("r")] },
            "q": refer("p"),
            "r": refer("q"),
        }
    }));
    for line in ["FA = FB | string;", "FB = any;", "FC = any;", "FQ = FP;", "FR = any;"] {
        assert!(text.contains(line), "{line}\n{text}");
    }
}

#[test]
fn input_is_asked_for_when_something_is_required() {
    let needs = json!({ "properties": { "a": {} }, "required": ["a"] });
    let free = json!({ "properties": { "a": {} } });
    for (input, expected) in [
        (needs.clone(), "HostFunction<FInput, any>"),
        (free.clone(), "HostFunctionOptional<FInput, any>"),
        (json!({ "type": "object" }), "HostFunctionOptional<FInput, any>"),
        (json!({ "type": "object", "properties": {} }), "HostFunctionWithoutInput<any>"),
        (
            json!({ "type": "object", "additionalProperties": false }),
            "HostFunctionWithoutInput<any>",
        ),
        (
            json!({ "type": "object", "properties": {}, "additionalProperties": true }),
            "HostFunctionOptional<FInput, any>",
        ),
        (
            json!({ "type": "object", "properties": {}, "anyOf": [needs] }),
            "HostFunction<FInput, any>",
        ),
        (json!({ "anyOf": [needs, free] }), "HostFunctionOptional<FInput, any>"),
        (json!({ "allOf": [needs, free] }), "HostFunction<FInput, any>"),
        (json!({ "$ref": "#/$defs/x", "$defs": { "x": needs } }), "HostFunction<FInput, any>"),
        (
            json!({ "$ref": "#/$defs/x", "$defs": { "x": free } }),
            "HostFunctionOptional<FInput, any>",
        ),
        (json!({ "type": "string" }), "HostFunction<FInput, any>"),
        (json!(true), "HostFunctionOptional<FInput, any>"),
        (json!(false), "HostFunction<FInput, any>"),
    ] {
        let text = declared(&input);
        assert!(text.contains(&format!("export const f: {expected};")), "{input}\n{text}");
    }
}

#[test]
fn names_keep_apart() {
    let schema =
        json!({ "$ref": "#/$defs/user_input", "$defs": { "user_input": { "type": "object" } } });
    let host = json!({ "$ref": "#/$defs/Function", "$defs": { "Function": { "type": "string" } } });
    let text = declare(
        "m*",
        "",
        &[
            function("get", &schema, Some(&schema)),
            function("get_user", &schema, None),
            function("getUser", &schema, None),
            function("get", &host, None),
            function("host", &host, None),
            function("delete", &host, None),
            function("a\" as b };\u{2028}declare const PWNED: 1; //", &host, None),
            function("__function_0", &host, None),
        ],
    );
    for line in [
        "declare module \"host:m_\" {",
        "export type GetInput = GetUserInput3;",
        "export type GetOutput = GetUserInput4;",
        "export const get_user: HostFunctionOptional<GetUserInput, any>;",
        "export const getUser: HostFunctionOptional<GetUserInput2, any>;",
        "export type HostFunction2 = string;",
        "  const __function_4: HostFunction<DeleteInput, any>;\n  export { __function_4 as delete };",
        "export { __function_5 as \"a\\\" as b };\\u2028declare const PWNED: 1; //\" };",
        "export { __function_6 as __function_0 };",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    assert_eq!(text.matches(" get: ").count(), 1);
}
