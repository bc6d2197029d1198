//! The JSON Schema of every JSON output, made from the types; `docs/schema/ds-doctor-v1.json` is its
//! published form. Only tests need it: the binary has no use for it.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::json;

use super::{AdviceList, Report};
use crate::model::time::Time;

impl JsonSchema for Time {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Time".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "date-time", "description": "A moment in RFC 3339." })
    }
}

/// The schema of a whole output of this kind; the types that it is made of go to `definitions`.
fn of_kind<T: JsonSchema>(kind: &str, definitions: &mut serde_json::Value) -> serde_json::Value {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut whole = serde_json::to_value(generator.into_root_schema_for::<T>()).unwrap();
    let object = whole.as_object_mut().unwrap();
    if let Some(serde_json::Value::Object(parts)) = object.remove("$defs") {
        definitions.as_object_mut().unwrap().extend(parts);
    }
    object.remove("$schema");
    object.remove("title");
    for (name, value) in [("apiVersion", super::API_VERSION), ("kind", kind)] {
        object["properties"][name]["const"] = json!(value);
    }
    whole
}

/// One report, a list of several, or the advice of `--lint`.
fn schema() -> serde_json::Value {
    let mut definitions = json!({});
    let report = of_kind::<Report>("DaemonSetReport", &mut definitions);
    let advice = of_kind::<AdviceList>("DaemonSetAdviceList", &mut definitions);
    definitions["DaemonSetReport"] = report;
    definitions["DaemonSetAdviceList"] = advice;
    definitions["DaemonSetReportList"] = json!({
        "description": "Several reports.",
        "type": "object",
        "properties": {
            "apiVersion": { "type": "string", "const": super::API_VERSION },
            "kind": { "type": "string", "const": "DaemonSetReportList" },
            "items": { "type": "array", "items": { "$ref": "#/$defs/DaemonSetReport" } },
        },
        "required": ["apiVersion", "kind", "items"],
    });
    let kinds = ["DaemonSetReport", "DaemonSetReportList", "DaemonSetAdviceList"];
    let any: Vec<serde_json::Value> = kinds.iter().map(|kind| json!({ "$ref": format!("#/$defs/{kind}") })).collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:ds-doctor:v1",
        "title": "The report of kubectl ds-doctor, version ds-doctor/v1",
        "description": "Fields are added to, never renamed or removed.",
        "oneOf": any,
        "$defs": definitions,
    })
}

#[test]
fn the_published_schema_is_current() {
    crate::render::published::check("docs/schema/ds-doctor-v1.json", &(serde_json::to_string_pretty(&schema()).unwrap() + "\n"));
}
