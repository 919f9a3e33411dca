//! The rows of `fields.txt`.
//!
//! ```text
//! package PROTOBUF-PACKAGE APIVERSION      `-`: no kinds of its own
//! > MESSAGE [k][a][w]                      kind, atomic, wrapper of a list of strings
//! JSON-NAME TAG SHAPE FLAGS [extra …]
//! ```
//!
//! Shapes: `b` bool, `i` int32, `l` int64, `d` double, `s` string, `y` bytes, `Message` of the same package, `3.Message`
//! of the package with that number; `[]` before it: repeated, `{}`: a map from strings.
//! Flags: `p` pointer, `r` written even when empty, `z` left out when zero, `n` inlined, `a` atomic.
//! Extras: `~` the Go type where it is not the usual one, `@merge,retainKeys/name` strategic merge, `#set` and
//! `#map:a,b` the kind of list, `=` the default of a text.

use std::collections::BTreeMap;

use super::{Id, META, Message, Schema};

/// One field of a message.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "they are the flags of a row, each apart from the others")]
pub(crate) struct Field {
    /// The JSON name; of an inlined field, the name of the Go struct.
    pub(crate) json: &'static str,
    pub(crate) tag: u32,
    /// What it holds; of a list or map, what each entry holds.
    pub(crate) shape: Shape,
    pub(crate) repeated: bool,
    pub(crate) map: bool,
    /// Its fields stand among those of the message around it.
    pub(crate) inline: bool,
    /// Go tells unset from zero.
    pub(crate) pointer: bool,
    /// Written even when it is empty.
    pub(crate) always: bool,
    /// Unset when empty, although it is a struct.
    pub(crate) omit_zero: bool,
    /// Server-side apply owns the struct or map as one piece.
    pub(crate) atomic: bool,
    /// How strategic merge treats it, where not as JSON merge patch would.
    pub(crate) merge: Option<Merge>,
    /// How server-side apply treats a list.
    pub(crate) list: List,
    /// The default of a text, as server-side apply needs it for the keys of a list.
    pub(crate) default: Option<&'static str>,
    /// The Go type where it is not the usual one.
    go: Option<&'static str>,
    /// The Go names of the inlined structs it came through, each with a dot.
    pub(super) through: &'static str,
}

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Bool,
    Int32,
    Int64,
    Double,
    String,
    /// Base64 in JSON.
    Bytes,
    Message(Id),
    /// `500m`.
    Quantity,
    IntOrString,
    /// Seconds.
    Time,
    /// Microseconds.
    MicroTime,
    /// Any JSON, as bytes in protobuf: `RawExtension`, `FieldsV1`, the defaults in schemas.
    Json,
    /// A list of texts that is a message in protobuf.
    Strings,
    /// A schema or a list of schemas.
    SchemaOrArray(Id),
    /// A schema or a bool.
    SchemaOrBool(Id),
    /// A schema or a list of texts.
    SchemaOrStrings(Id),
}

/// How strategic merge treats a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Merge {
    /// Lists merge by `key`, or as sets of scalars if there is none; without it the field is replaced.
    #[expect(clippy::struct_field_names, reason = "the word of the marker")]
    pub(crate) merge: bool,
    /// What the patch does not name is cleared from the object it is merged into.
    pub(crate) retain_keys: bool,
    /// Empty for lists of scalars.
    pub(crate) key: &'static str,
}

/// How server-side apply treats a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum List {
    /// Owned as one piece; also what is no list.
    Atomic,
    Set,
    Map(Vec<&'static str>),
}

impl Field {
    /// The Go type of the whole field, as errors spell it.
    pub(super) fn go(&self) -> String {
        match (self.go, self.repeated, self.map) {
            (Some(go), ..) => go.to_owned(),
            (None, true, _) => format!("[]{}", self.shape.go()),
            (None, _, true) => format!("map[string]{}", self.shape.go()),
            _ => self.shape.go(),
        }
    }

    /// The Go type of an entry.
    pub(super) fn entry_go(&self) -> String {
        let inner =
            self.go.and_then(|go| go.strip_prefix("[]").or_else(|| go.split_once(']').map(|split| split.1)));
        inner.map_or_else(|| self.shape.go(), |inner| inner.trim_start_matches('*').to_owned())
    }
}

impl Shape {
    fn go(self) -> String {
        match self {
            Self::Bool => "bool".to_owned(),
            Self::Int32 => "int32".to_owned(),
            Self::Int64 => "int64".to_owned(),
            Self::Double => "float64".to_owned(),
            Self::Bytes => "[]uint8".to_owned(),
            Self::Message(id) => id.message().go(),
            Self::Strings => "[]string".to_owned(),
            _ => "string".to_owned(),
        }
    }

    /// A struct in Go: `omitempty` never leaves it out.
    pub(crate) fn is_struct(self) -> bool {
        !matches!(
            self,
            Self::Bool
                | Self::Int32
                | Self::Int64
                | Self::Double
                | Self::String
                | Self::Bytes
                | Self::Strings
        )
    }
}

type Names = BTreeMap<(&'static str, &'static str), Id>;

/// A message whose rows are not read yet.
struct Heading {
    package: &'static str,
    name: &'static str,
    flags: &'static str,
    rows: Vec<&'static str>,
}

pub(super) fn load(text: &'static str) -> Schema {
    let mut packages = Vec::new();
    let mut served = BTreeMap::new();
    let mut headings: Vec<Heading> = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        if let Some(rest) = line.strip_prefix("package ") {
            let (package, version) = rest.split_once(' ').expect("a package has an API version");
            packages.push(package);
            if version != "-" {
                served.insert(version, package);
            }
        } else if let Some(rest) = line.strip_prefix("> ") {
            let (name, flags) = rest.split_once(' ').unwrap_or((rest, ""));
            let package = packages.last().copied().unwrap_or_default();
            headings.push(Heading { package, name, flags, rows: Vec::new() });
        } else if let Some(heading) = headings.last_mut() {
            heading.rows.push(line);
        }
    }
    served.insert("meta.k8s.io/v1", META);
    let names = (0..).zip(&headings).map(|(at, heading)| ((heading.package, heading.name), Id(at))).collect();
    let wrappers: Vec<bool> = headings.iter().map(|heading| heading.flags.contains('w')).collect();
    let reader = Rows { packages: &packages, names: &names, wrappers: &wrappers };
    let mut messages: Vec<Message> = headings.iter().map(|heading| reader.message(heading)).collect();
    for at in 0..messages.len() {
        let mut fields = flattened(&messages, at, "");
        if messages[at].kind {
            fields.extend(["apiVersion", "kind"].map(type_meta));
        }
        fields.sort_by_key(|field| field.json);
        messages[at].fields = fields;
    }
    Schema { messages, names, packages: served }
}

/// The fields as JSON has them: those of inlined structs among the others.
fn flattened(messages: &[Message], at: usize, through: &'static str) -> Vec<Field> {
    let mut fields = Vec::new();
    for field in &messages[at].wire {
        match field.shape {
            Shape::Message(Id(inner)) if field.inline => {
                let path = format!("{through}{}.", field.json);
                fields.extend(flattened(messages, usize::from(inner), Box::leak(path.into_boxed_str())));
            }
            _ => fields.push(Field { through, ..field.clone() }),
        }
    }
    fields
}

/// `apiVersion` and `kind` travel in the envelope, not in the message.
fn type_meta(json: &'static str) -> Field {
    Field { json, through: "TypeMeta.", ..Field::plain(json, 0, Shape::String) }
}

impl Field {
    fn plain(json: &'static str, tag: u32, shape: Shape) -> Self {
        Self {
            json,
            tag,
            shape,
            repeated: false,
            map: false,
            inline: false,
            pointer: false,
            always: false,
            omit_zero: false,
            atomic: false,
            merge: None,
            list: List::Atomic,
            default: None,
            go: None,
            through: "",
        }
    }

    fn extra(&mut self, extra: &'static str) {
        let (mark, rest) = extra.split_at(1);
        match mark {
            "~" => self.go = Some(rest),
            "@" => {
                let (strategy, key) = rest.split_once('/').unwrap_or((rest, ""));
                let says = |word| strategy.split(',').any(|part| part == word);
                self.merge = Some(Merge { merge: says("merge"), retain_keys: says("retainKeys"), key });
            }
            "#" => {
                let keys = rest.strip_prefix("map:").map(|keys| keys.split(',').collect());
                self.list = keys.map_or(List::Set, List::Map);
            }
            _ => self.default = Some(rest),
        }
    }
}

/// What reading a row needs to know.
struct Rows<'a> {
    packages: &'a [&'static str],
    names: &'a Names,
    wrappers: &'a [bool],
}

impl Rows<'_> {
    fn message(&self, heading: &Heading) -> Message {
        let mut wire: Vec<Field> = heading.rows.iter().map(|row| self.field(heading.package, row)).collect();
        wire.sort_by_key(|field| field.tag);
        Message {
            name: heading.name,
            id: self.names[&(heading.package, heading.name)],
            package: heading.package.rsplit('.').next().unwrap_or_default(),
            kind: heading.flags.contains('k'),
            atomic: heading.flags.contains('a'),
            fields: Vec::new(),
            wire,
        }
    }

    fn field(&self, package: &'static str, row: &'static str) -> Field {
        let mut words = row.split(' ');
        let mut word = || words.next().unwrap_or_default();
        let (json, tag, shape, flags) = (word(), word(), word(), word());
        let (repeated, shape) = shape.strip_prefix("[]").map_or((false, shape), |rest| (true, rest));
        let (map, shape) = shape.strip_prefix("{}").map_or((false, shape), |rest| (true, rest));
        let tag = tag.parse().expect("a row has a tag");
        let mut field = Field::plain(json, tag, self.shape(package, shape));
        (field.repeated, field.map) = (repeated, map);
        field.inline = flags.contains('n');
        field.pointer = flags.contains('p');
        field.omit_zero = flags.contains('z');
        field.atomic = flags.contains('a');
        let value = !field.pointer && !repeated && !map;
        field.always = flags.contains('r') || value && field.shape.is_struct() && !field.omit_zero;
        words.for_each(|extra| field.extra(extra));
        field
    }

    fn shape(&self, package: &'static str, text: &'static str) -> Shape {
        match text {
            "b" => return Shape::Bool,
            "i" => return Shape::Int32,
            "l" => return Shape::Int64,
            "d" => return Shape::Double,
            "s" => return Shape::String,
            "y" => return Shape::Bytes,
            _ => {}
        }
        let (package, name) = text.split_once('.').map_or((package, text), |(number, name)| {
            let number: usize = number.parse().expect("a package is named by its number");
            (self.packages[number], name)
        });
        let id = self.names[&(package, name)];
        let schema = || self.names[&(package, "JSONSchemaProps")];
        match (package, name) {
            (_, "Quantity") => Shape::Quantity,
            (_, "IntOrString") => Shape::IntOrString,
            (META, "Time") => Shape::Time,
            (META, "MicroTime") => Shape::MicroTime,
            (_, "RawExtension" | "JSON") | (META, "FieldsV1") => Shape::Json,
            (_, "JSONSchemaPropsOrArray") => Shape::SchemaOrArray(schema()),
            (_, "JSONSchemaPropsOrBool") => Shape::SchemaOrBool(schema()),
            (_, "JSONSchemaPropsOrStringArray") => Shape::SchemaOrStrings(schema()),
            _ if self.wrappers[usize::from(id.0)] => Shape::Strings,
            _ => Shape::Message(id),
        }
    }
}
