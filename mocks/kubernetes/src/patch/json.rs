//! JSON patch: RFC 6902 as an API server's library reads it.
//!
//! That library is laxer than the RFC, and clients depend on it: `replace` of a key that is absent adds it, `test`
//! takes absent for null, a negative index counts from the end. All refusals look the same to the client.

use serde_json::Value;

use crate::status::Status;

/// How many operations a patch may have.
const OPERATIONS_MAX: usize = 10_000;
/// How many bytes the copies of one patch may come to.
const COPIED_BYTES_MAX: usize = 3 * 1024 * 1024;
/// How deep a patch may nest an object: as deep as one can be read.
const DEPTH_MAX: usize = 120;

/// The operation does not apply. The client is not told why.
#[derive(Debug)]
struct Inapplicable;

type Outcome<T> = Result<T, Inapplicable>;

/// The target with the operations of the patch done, one after the other.
pub(crate) fn json(target: &Value, patch: &Value) -> Result<Value, Status> {
    let operations = operations(patch)?;
    if operations.len() > OPERATIONS_MAX {
        return Err(Status::too_large_patch(OPERATIONS_MAX, operations.len()));
    }
    let mut document = target.clone();
    let mut copied_bytes = 0;
    for operation in &operations {
        operation.run(&mut document, &mut copied_bytes).map_err(|Inapplicable| Status::rejected())?;
    }
    Ok(document)
}

/// One operation. What is absent or null is `None`, except a `value` of null.
struct Operation<'a> {
    op: &'a str,
    path: Option<&'a str>,
    from: Option<&'a str>,
    value: Option<&'a Value>,
}

fn operations(patch: &Value) -> Result<Vec<Operation<'_>>, Status> {
    const LIST: &str = "[]handlers.jsonPatchOp";
    let items = match patch {
        Value::Array(items) => items,
        Value::Null => return Ok(Vec::new()),
        other => return Err(super::undecodable("error decoding patch: ", other, LIST)),
    };
    items.iter().map(operation).collect()
}

fn operation(item: &Value) -> Result<Operation<'_>, Status> {
    if !item.is_object() && !item.is_null() {
        return Err(super::undecodable("error decoding patch: ", item, "handlers.jsonPatchOp"));
    }
    let text = |field: &str| match item.get(field) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.as_str())),
        Some(other) => {
            let wire = super::wire_type(other);
            Err(Status::bad_request(format!(
                "error decoding patch: json: cannot unmarshal {wire} into Go struct field \
                 jsonPatchOp.{field} of type string"
            )))
        }
    };
    let op = text("op")?.unwrap_or("unknown");
    Ok(Operation { op, path: text("path")?, from: text("from")?, value: item.get("value") })
}

impl Operation<'_> {
    fn run(&self, document: &mut Value, copied_bytes: &mut usize) -> Outcome<()> {
        match self.op {
            "add" => {
                let value = self.value.cloned().unwrap_or_default();
                add(document, self.path()?, value)
            }
            "remove" => remove(document, self.path()?).map(drop),
            "replace" => self.replace(document),
            "move" => {
                let value = remove(document, self.from()?)?;
                add(document, self.path()?, value)
            }
            "copy" => {
                let value = get(document, self.from()?)?.clone();
                *copied_bytes += value.to_string().len();
                if *copied_bytes > COPIED_BYTES_MAX {
                    return Err(Inapplicable);
                }
                add(document, self.path()?, value)
            }
            "test" => {
                let path = self.path()?;
                let found = if path.is_empty() { &*document } else { get(document, path)? };
                let wanted = self.value.unwrap_or(&Value::Null);
                if found == wanted { Ok(()) } else { Err(Inapplicable) }
            }
            _ => Err(Inapplicable),
        }
    }

    fn replace(&self, document: &mut Value) -> Outcome<()> {
        let path = self.path()?;
        let value = self.value.cloned().unwrap_or_default();
        if path.is_empty() {
            if !value.is_object() && !value.is_array() {
                return Err(Inapplicable);
            }
            *document = value;
            return Ok(());
        }
        match container(document, path)? {
            (Value::Object(fields), key) => {
                fields.insert(key, value);
            }
            (Value::Array(items), key) => {
                let at = index(&key, items.len())?;
                *items.get_mut(at).ok_or(Inapplicable)? = value;
            }
            _ => return Err(Inapplicable),
        }
        Ok(())
    }

    fn path(&self) -> Outcome<&str> {
        self.path.ok_or(Inapplicable)
    }

    fn from(&self) -> Outcome<&str> {
        self.from.ok_or(Inapplicable)
    }
}

fn add(document: &mut Value, path: &str, value: Value) -> Outcome<()> {
    if path.split('/').count() + depth(&value) > DEPTH_MAX {
        return Err(Inapplicable);
    }
    match container(document, path)? {
        (Value::Object(fields), key) => {
            fields.insert(key, value);
        }
        (Value::Array(items), key) => {
            let end = items.len();
            let at = if key == "-" { end } else { index(&key, end + 1)? };
            if at > end {
                return Err(Inapplicable);
            }
            items.insert(at, value);
        }
        _ => return Err(Inapplicable),
    }
    Ok(())
}

fn remove(document: &mut Value, path: &str) -> Outcome<Value> {
    match container(document, path)? {
        (Value::Object(fields), key) => fields.remove(&key).ok_or(Inapplicable),
        (Value::Array(items), key) => {
            let at = index(&key, items.len())?;
            if at < items.len() { Ok(items.remove(at)) } else { Err(Inapplicable) }
        }
        _ => Err(Inapplicable),
    }
}

/// What is at a path; an absent field reads as null.
fn get<'a>(document: &'a mut Value, path: &str) -> Outcome<&'a Value> {
    match container(document, path)? {
        (Value::Object(fields), key) => Ok(fields.get(&key).unwrap_or(&Value::Null)),
        (Value::Array(items), key) => {
            let at = index(&key, items.len())?;
            items.get(at).ok_or(Inapplicable)
        }
        _ => Err(Inapplicable),
    }
}

/// The object or list that holds the last step of a path, and that step. What precedes the first slash is not read.
fn container<'a>(document: &'a mut Value, path: &str) -> Outcome<(&'a mut Value, String)> {
    let mut steps: Vec<String> = path.split('/').skip(1).map(unescaped).collect();
    let last = steps.pop().ok_or(Inapplicable)?;
    let mut place = document;
    for step in &steps {
        place = match place {
            Value::Object(fields) => fields.get_mut(step),
            Value::Array(items) => index(step, items.len()).ok().and_then(|at| items.get_mut(at)),
            _ => None,
        }
        .ok_or(Inapplicable)?;
    }
    Ok((place, last))
}

fn unescaped(step: &str) -> String {
    step.replace("~1", "/").replace("~0", "~")
}

/// An index in a list of some length; a negative one counts from the end.
fn index(step: &str, length: usize) -> Outcome<usize> {
    let at: i64 = step.parse().map_err(|_| Inapplicable)?;
    let at = if at < 0 { at.checked_add_unsigned(length as u64).ok_or(Inapplicable)? } else { at };
    usize::try_from(at).map_err(|_| Inapplicable)
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Object(fields) => 1 + fields.values().map(depth).max().unwrap_or(0),
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}
