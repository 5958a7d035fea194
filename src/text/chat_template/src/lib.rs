//! Chat templates: minijinja set up as Hugging Face sets up Jinja2, behind a C interface
//! (../chat_renderer.cc). Renders in bounded time and memory, since a model file is untrusted.

mod python;
mod settings;

use minijinja::ErrorKind;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::slice;
use std::sync::Once;

/// How a rendering ended; ../chat_renderer.cc has the same numbers.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Done = 0,
    /// The template is no template.
    Syntax = 1,
    /// The template said no, by raise_exception().
    Raised = 2,
    /// It asked for what there is not.
    Failed = 3,
    /// It went over a limit.
    Limit = 4,
    /// The values are no JSON object.
    Context = 5,
    /// A fault of the engine.
    Internal = 6,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Instructions, and 64 bytes of everything made, cost one each.
    pub fuel: u64,
    /// Of the text that is rendered.
    pub output_bytes: usize,
    /// What strftime_now() takes for now: seconds since 1970.
    pub now_s: i64,
}

#[derive(Debug, PartialEq, Eq)]
pub struct Outcome {
    pub status: Status,
    /// The text, or the reason.
    pub text: String,
    /// Of the template, from 1; 0: not known.
    pub line: u32,
}

/// Renders `template` with the values of `context`, a JSON object.
pub fn render(template: &str, context: &str, limits: Limits) -> Outcome {
    let fail = |status, text: String| Outcome {
        status,
        text,
        line: 0,
    };
    let values: serde_json::Value = match serde_json::from_str(context) {
        Ok(values @ serde_json::Value::Object(_)) => values,
        Ok(_) => return fail(Status::Context, "the values are no JSON object".into()),
        Err(error) => return fail(Status::Context, error.to_string()),
    };
    let environment = settings::Settings::new(limits);
    match environment.render(template, &values) {
        Ok(text) => Outcome {
            status: Status::Done,
            text,
            line: 0,
        },
        Err(error) => {
            let line = error
                .line()
                .and_then(|line| u32::try_from(line).ok())
                .unwrap_or(0);
            if let Some(text) = environment.raised() {
                return Outcome {
                    status: Status::Raised,
                    text,
                    line,
                };
            }
            let status = match error.kind() {
                ErrorKind::SyntaxError => Status::Syntax,
                ErrorKind::OutOfFuel | ErrorKind::WriteFailure => Status::Limit,
                _ => Status::Failed,
            };
            let mut text = error.kind().to_string();
            if let Some(detail) = error.detail() {
                text = detail.to_string();
            }
            let status = if text.contains("recursion limit") {
                Status::Limit
            } else {
                status
            };
            Outcome { status, text, line }
        }
    }
}

/// A text that Rust made; given back by ahead_chat_free().
#[repr(C)]
pub struct Answer {
    text: *mut u8,
    bytes: usize,
    capacity: usize,
    status: i32,
    line: u32,
}

static QUIET: Once = Once::new();

/// # Safety
/// `template` and `context` point to as many bytes of UTF-8; `limits` to a Limits.
#[no_mangle]
pub unsafe extern "C" fn ahead_chat_render(
    template: *const u8,
    template_bytes: usize,
    context: *const u8,
    context_bytes: usize,
    limits: *const Limits,
) -> Answer {
    let template = slice::from_raw_parts(template, template_bytes);
    let context = slice::from_raw_parts(context, context_bytes);
    let limits = *limits;
    // A fault is told by the status; nothing writes to the user's terminal.
    QUIET.call_once(|| std::panic::set_hook(Box::new(|_| {})));
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let (Ok(template), Ok(context)) =
            (std::str::from_utf8(template), std::str::from_utf8(context))
        else {
            return Outcome {
                status: Status::Context,
                text: "no UTF-8".into(),
                line: 0,
            };
        };
        render(template, context, limits)
    }))
    .unwrap_or_else(|_| Outcome {
        status: Status::Internal,
        text: "the template engine failed".into(),
        line: 0,
    });
    let mut text = std::mem::ManuallyDrop::new(outcome.text.into_bytes());
    Answer {
        text: text.as_mut_ptr(),
        bytes: text.len(),
        capacity: text.capacity(),
        status: outcome.status as i32,
        line: outcome.line,
    }
}

/// # Safety
/// `answer` is one of ahead_chat_render() that was not given back before.
#[no_mangle]
pub unsafe extern "C" fn ahead_chat_free(answer: Answer) {
    drop(Vec::from_raw_parts(
        answer.text,
        answer.bytes,
        answer.capacity,
    ));
}
