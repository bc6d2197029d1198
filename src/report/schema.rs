//! The JSON Schema of the report, made from the types; `docs/schema/ds-doctor-v1.json` is its
//! published form. Only tests need it: the binary has no use for it.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::json;

use super::Report;
use crate::model::time::Time;

impl JsonSchema for Time {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Time".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "date-time", "description": "A moment in RFC 3339." })
    }
}

/// One report, or a list of several.
fn schema() -> serde_json::Value {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut report = serde_json::to_value(generator.into_root_schema_for::<Report>()).unwrap();
    let mut definitions = report.as_object_mut().and_then(|o| o.remove("$defs")).unwrap_or_else(|| json!({}));
    let object = report.as_object_mut().unwrap();
    object.remove("$schema");
    object.remove("title");
    for (name, value) in [("apiVersion", super::API_VERSION), ("kind", "DaemonSetReport")] {
        object["properties"][name]["const"] = json!(value);
    }
    definitions["DaemonSetReport"] = report;
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
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:ds-doctor:v1",
        "title": "The report of kubectl ds-doctor, version ds-doctor/v1",
        "description": "Fields are added to, never renamed or removed.",
        "oneOf": [{ "$ref": "#/$defs/DaemonSetReport" }, { "$ref": "#/$defs/DaemonSetReportList" }],
        "$defs": definitions,
    })
}

#[test]
fn the_published_schema_is_current() {
    crate::render::published::check("docs/schema/ds-doctor-v1.json", &(serde_json::to_string_pretty(&schema()).unwrap() + "\n"));
}
