//! Values as Python writes them: str(), repr() and json.dumps().

use minijinja::value::{Value, ValueKind};
use minijinja::{Error, ErrorKind};
use std::fmt::Write;

/// Values may be nested as deep as the JSON reader lets them be.
const MAX_DEPTH: usize = 160;

fn too_deep() -> Error {
    Error::new(ErrorKind::InvalidOperation, "values are nested too deeply")
}

/// repr() of a float: the shortest digits that read back, in scientific form from 1e16 and below
/// 1e-4.
pub fn float(value: f64) -> String {
    if value.is_nan() {
        return "nan".into();
    }
    if value.is_infinite() {
        return if value > 0.0 {
            "inf".into()
        } else {
            "-inf".into()
        };
    }
    let scientific = format!("{value:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..16).contains(&exponent) || value == 0.0 {
        let plain = format!("{value}");
        return if plain.contains('.') {
            plain
        } else {
            plain + ".0"
        };
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.abs())
}

fn is_float(value: &Value) -> bool {
    value.kind() == ValueKind::Number && !value.is_integer()
}

fn as_float(value: &Value) -> f64 {
    f64::try_from(value.clone()).unwrap_or(f64::NAN)
}

/// What `{{ value }}` writes.
pub fn str(value: &Value) -> Result<String, Error> {
    match value.kind() {
        ValueKind::Undefined => Ok(String::new()),
        ValueKind::String => Ok(value.as_str().unwrap_or_default().to_string()),
        _ => {
            let mut out = String::new();
            repr(value, &mut out, 0)?;
            Ok(out)
        }
    }
}

fn quoted(text: &str, out: &mut String) {
    let quote = if text.contains('\'') && !text.contains('"') {
        '"'
    } else {
        '\''
    };
    out.push(quote);
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\\' => out.push_str("\\\\"),
            c if c == quote => {
                out.push('\\');
                out.push(c);
            }
            c if (c as u32) < 0x20 || c as u32 == 0x7f => {
                let _ = write!(out, "\\x{:02x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push(quote);
}

fn repr(value: &Value, out: &mut String, depth: usize) -> Result<(), Error> {
    if depth > MAX_DEPTH {
        return Err(too_deep());
    }
    match value.kind() {
        ValueKind::Undefined => out.push_str("Undefined"),
        ValueKind::None => out.push_str("None"),
        ValueKind::Bool => out.push_str(if value.is_true() { "True" } else { "False" }),
        ValueKind::Number if is_float(value) => out.push_str(&float(as_float(value))),
        ValueKind::String => quoted(value.as_str().unwrap_or_default(), out),
        ValueKind::Seq | ValueKind::Iterable => {
            out.push('[');
            for (i, item) in value.try_iter()?.enumerate() {
                if i > 0 {
                    out.push_str(", ");
                }
                repr(&item, out, depth + 1)?;
            }
            out.push(']');
        }
        ValueKind::Map => {
            out.push('{');
            for (i, key) in value.try_iter()?.enumerate() {
                if i > 0 {
                    out.push_str(", ");
                }
                repr(&key, out, depth + 1)?;
                out.push_str(": ");
                repr(&value.get_item(&key)?, out, depth + 1)?;
            }
            out.push('}');
        }
        _ => {
            let _ = write!(out, "{value}");
        }
    }
    Ok(())
}

/// The arguments of json.dumps() that templates give.
pub struct Dumps {
    pub ensure_ascii: bool,
    pub indent: Option<String>,
    pub between_items: String,
    pub behind_key: String,
    pub sort_keys: bool,
}

impl Dumps {
    pub fn write(&self, value: &Value, out: &mut String, depth: usize) -> Result<(), Error> {
        if depth > MAX_DEPTH {
            return Err(too_deep());
        }
        match value.kind() {
            ValueKind::Undefined => {
                return Err(Error::new(
                    ErrorKind::InvalidOperation,
                    "Object of type Undefined is not JSON serializable",
                ))
            }
            ValueKind::None => out.push_str("null"),
            ValueKind::Bool => out.push_str(if value.is_true() { "true" } else { "false" }),
            ValueKind::Number if is_float(value) => {
                let number = as_float(value);
                if number.is_nan() {
                    out.push_str("NaN");
                } else if number.is_infinite() {
                    out.push_str(if number > 0.0 {
                        "Infinity"
                    } else {
                        "-Infinity"
                    });
                } else {
                    out.push_str(&float(number));
                }
            }
            ValueKind::String => self.string(value.as_str().unwrap_or_default(), out),
            ValueKind::Seq | ValueKind::Iterable => {
                let mut empty = true;
                for item in value.try_iter()? {
                    out.push_str(if empty { "[" } else { &self.between_items });
                    empty = false;
                    self.new_line(out, depth + 1);
                    self.write(&item, out, depth + 1)?;
                }
                if empty {
                    out.push_str("[]");
                } else {
                    self.new_line(out, depth);
                    out.push(']');
                }
            }
            ValueKind::Map => {
                let mut keys: Vec<Value> = value.try_iter()?.collect();
                if self.sort_keys {
                    keys.sort_by_key(|key| key.to_string());
                }
                for (i, key) in keys.iter().enumerate() {
                    out.push_str(if i == 0 { "{" } else { &self.between_items });
                    self.new_line(out, depth + 1);
                    match key.as_str() {
                        Some(text) => self.string(text, out),
                        None => {
                            let mut number = String::new();
                            self.write(key, &mut number, depth + 1)?;
                            self.string(&number, out);
                        }
                    }
                    out.push_str(&self.behind_key);
                    self.write(&value.get_item(key)?, out, depth + 1)?;
                }
                if keys.is_empty() {
                    out.push_str("{}");
                } else {
                    self.new_line(out, depth);
                    out.push('}');
                }
            }
            _ => {
                let _ = write!(out, "{value}");
            }
        }
        Ok(())
    }

    fn new_line(&self, out: &mut String, depth: usize) {
        let Some(indent) = &self.indent else { return };
        out.push('\n');
        for _ in 0..depth {
            out.push_str(indent);
        }
    }

    fn string(&self, text: &str, out: &mut String) {
        out.push('"');
        for c in text.chars() {
            match c {
                '"' => out.push_str("\\\""),
                '\\' => out.push_str("\\\\"),
                '\n' => out.push_str("\\n"),
                '\r' => out.push_str("\\r"),
                '\t' => out.push_str("\\t"),
                '\u{8}' => out.push_str("\\b"),
                '\u{c}' => out.push_str("\\f"),
                c if (c as u32) < 0x20 || (self.ensure_ascii && (c as u32) > 0x7e) => {
                    let mut units = [0; 2];
                    for unit in c.encode_utf16(&mut units) {
                        let _ = write!(out, "\\u{unit:04x}");
                    }
                }
                c => out.push(c),
            }
        }
        out.push('"');
    }
}
