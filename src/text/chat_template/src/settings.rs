//! The engine's settings, filters and functions: those of Hugging Face's chat templates
//! (transformers, utils/chat_template_utils.py).

use crate::python::{self, Dumps};
use crate::Limits;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Kwargs, Value, ValueKind};
use minijinja::{AutoEscape, Environment, Error, ErrorKind, State};
use std::ffi::CString;
use std::io;
use std::sync::{Arc, Mutex};

/// One rendering's environment.
pub struct Settings {
    environment: Environment<'static>,
    raised: Arc<Mutex<Option<String>>>,
    output_bytes: usize,
}

/// Takes text up to a limit.
struct Bounded {
    text: Vec<u8>,
    limit: usize,
}

impl io::Write for Bounded {
    fn write(&mut self, some: &[u8]) -> io::Result<usize> {
        if some.len() > self.limit - self.text.len() {
            return Err(io::Error::other("the rendered text is too long"));
        }
        self.text.extend_from_slice(some);
        Ok(some.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Settings {
    pub fn new(limits: Limits) -> Settings {
        let mut environment = Environment::new();
        let syntax = SyntaxConfig::builder()
            .trim_blocks(true)
            .lstrip_blocks(true)
            .build();
        environment.set_syntax(syntax.unwrap_or_default());
        environment.set_auto_escape_callback(|_| AutoEscape::None);
        environment.set_fuel(Some(limits.fuel));
        environment.set_recursion_limit(200);
        environment.set_unknown_method_callback(unknown_method);
        environment.set_formatter(|out, state, value| match value.kind() {
            ValueKind::String => minijinja::escape_formatter(out, state, value),
            _ => out.write_str(&python::str(value)?).map_err(Error::from),
        });
        environment.add_filter("tojson", tojson);
        environment.add_filter("string", |value: &Value| python::str(value));
        environment.add_filter("join", join);
        environment.add_test("iterable", |value: &Value| {
            matches!(
                value.kind(),
                ValueKind::Undefined
                    | ValueKind::String
                    | ValueKind::Seq
                    | ValueKind::Iterable
                    | ValueKind::Map
            )
        });
        environment.add_filter("escape", escape);
        environment.add_filter("e", escape);
        let raised = Arc::new(Mutex::new(None));
        let keep = raised.clone();
        environment.add_function("raise_exception", move |message: &Value| {
            let message = python::str(message)?;
            if let Ok(mut raised) = keep.lock() {
                raised.get_or_insert(message.clone());
            }
            Err::<Value, Error>(Error::new(ErrorKind::InvalidOperation, message))
        });
        environment.add_function("strftime_now", move |format: &str| {
            local_time(limits.now_s, format)
        });
        Settings {
            environment,
            raised,
            output_bytes: limits.output_bytes,
        }
    }

    /// What the template itself objected to.
    pub fn raised(&self) -> Option<String> {
        self.raised.lock().ok().and_then(|raised| raised.clone())
    }

    pub fn render(&self, template: &str, values: &serde_json::Value) -> Result<String, Error> {
        let source = without_generation(template);
        let template = self
            .environment
            .template_from_named_str("chat template", &source)?;
        let mut out = Bounded {
            text: Vec::new(),
            limit: self.output_bytes,
        };
        template.render_captured_to(value_of(values), &mut out)?;
        String::from_utf8(out.text)
            .map_err(|_| Error::new(ErrorKind::InvalidOperation, "the rendered text is no UTF-8"))
    }
}

/// JSON as the engine's values, maps in their order. The reader bounds its depth.
fn value_of(json: &serde_json::Value) -> Value {
    use serde_json::Value as Json;
    match json {
        Json::Null => Value::from(()),
        Json::Bool(value) => Value::from(*value),
        Json::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(value), _) => Value::from(value),
            (None, Some(value)) => Value::from(value),
            _ => Value::from(number.as_f64().unwrap_or(f64::NAN)),
        },
        Json::String(text) => Value::from(text.as_str()),
        Json::Array(items) => items.iter().map(value_of).collect::<Vec<_>>().into(),
        Json::Object(map) => {
            Value::from_pairs(map.iter().map(|(key, item)| (key.as_str(), value_of(item))))
        }
    }
}

/// `{% generation %}` only marks what an assistant says, for training.
fn without_generation(template: &str) -> String {
    let mut out = String::with_capacity(template.len());
    let mut rest = template;
    while let Some(begin) = rest.find("{%") {
        let Some(length) = rest[begin + 2..].find("%}") else {
            break;
        };
        let end = begin + 2 + length + 2;
        let inside = &rest[begin + 2..end - 2];
        let left = inside.starts_with(['-', '+']) as usize;
        let right = (inside.len() > left && inside.ends_with(['-', '+'])) as usize;
        let replaced = match inside[left..inside.len() - right].trim() {
            "generation" => Some(" if true "),
            "endgeneration" => Some(" endif "),
            _ => None,
        };
        match replaced {
            Some(words) => {
                out.push_str(&rest[..begin + 2 + left]);
                out.push_str(words);
                out.push_str(&rest[end - 2 - right..end]);
            }
            None => out.push_str(&rest[..end]),
        }
        rest = &rest[end..];
    }
    out + rest
}

/// Python's methods of strings and dictionaries.
fn unknown_method(
    state: &mut State,
    value: &Value,
    method: &str,
    args: &[Value],
) -> Result<Value, Error> {
    minijinja_contrib::pycompat::unknown_method_callback(state, value, method, args)
}

fn tojson(value: &Value, kwargs: Kwargs) -> Result<Value, Error> {
    let indent = match kwargs.get::<Option<Value>>("indent")? {
        None => None,
        Some(value) if value.is_none() => None,
        Some(value) => Some(match value.as_str() {
            Some(text) => text.to_string(),
            None => {
                let width = usize::try_from(value)?;
                if width > 64 {
                    return Err(Error::new(
                        ErrorKind::InvalidOperation,
                        "indent is too large",
                    ));
                }
                " ".repeat(width)
            }
        }),
    };
    let separators = kwargs.get::<Option<Vec<String>>>("separators")?;
    let (between_items, behind_key) = match separators.as_deref() {
        Some([items, key]) => (items.clone(), key.clone()),
        Some(_) => {
            return Err(Error::new(
                ErrorKind::InvalidOperation,
                "separators are two strings",
            ))
        }
        None => (
            if indent.is_some() { "," } else { ", " }.into(),
            ": ".into(),
        ),
    };
    let dumps = Dumps {
        ensure_ascii: kwargs.get::<Option<bool>>("ensure_ascii")?.unwrap_or(false),
        indent,
        between_items,
        behind_key,
        sort_keys: kwargs.get::<Option<bool>>("sort_keys")?.unwrap_or(false),
    };
    kwargs.assert_all_used()?;
    let mut out = String::new();
    dumps.write(value, &mut out, 0)?;
    Ok(Value::from(out))
}

/// The engine's own writes numbers and truths in its own way.
fn join(values: &Value, between: Option<&str>, kwargs: Kwargs) -> Result<Value, Error> {
    let attribute = kwargs.get::<Option<String>>("attribute")?;
    let named = kwargs.get::<Option<String>>("d")?;
    kwargs.assert_all_used()?;
    let between = between.or(named.as_deref()).unwrap_or_default();
    if values.is_undefined() || values.is_none() {
        return Ok(Value::from(""));
    }
    let mut out = String::new();
    for (i, item) in values.try_iter()?.enumerate() {
        if i > 0 {
            out.push_str(between);
        }
        match &attribute {
            Some(name) => out.push_str(&python::str(&item.get_attr(name)?)?),
            None => out.push_str(&python::str(&item)?),
        }
    }
    Ok(Value::from(out))
}

/// As markupsafe does, whether or not text is escaped by itself.
fn escape(value: &Value) -> Result<Value, Error> {
    if value.is_safe() {
        return Ok(value.clone());
    }
    let mut out = String::new();
    for c in python::str(value)?.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\'' => out.push_str("&#39;"),
            '"' => out.push_str("&#34;"),
            c => out.push(c),
        }
    }
    Ok(Value::from_safe_string(out))
}

/// strftime() of the local time.
fn local_time(now_s: i64, format: &str) -> Result<String, Error> {
    let refuse = |what: &str| Error::new(ErrorKind::InvalidOperation, what.to_string());
    let format = CString::new(format).map_err(|_| refuse("a time format has no zero byte"))?;
    if format.as_bytes().is_empty() {
        return Ok(String::new());
    }
    let seconds = now_s as libc::time_t;
    let mut out = vec![0u8; 1024];
    // localtime_r() fills what it is given, strftime() writes no more than it is told.
    let written = unsafe {
        let mut time: libc::tm = std::mem::zeroed();
        if libc::localtime_r(&seconds, &mut time).is_null() {
            return Err(refuse("the time is out of range"));
        }
        libc::strftime(out.as_mut_ptr().cast(), out.len(), format.as_ptr(), &time)
    };
    out.truncate(written);
    String::from_utf8(out).map_err(|_| refuse("the time is no UTF-8"))
}
