//! In which form a client wants its answer.

use crate::status::Status;

pub(super) const JSON: &str = "application/json";
pub(super) const YAML: &str = "application/yaml";
pub(super) const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";

const JSON_STREAM: &str = "application/json;stream=watch";
const PROTOBUF_STREAM: &str = "application/vnd.kubernetes.protobuf;stream=watch";

/// How bytes are made of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    Json,
    Yaml,
    Protobuf,
}

/// What is shown of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Whole,
    Table,
    Metadata,
    /// The same of a list.
    MetadataList,
}

/// What a client accepts, as far as it can be served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Form {
    pub(super) encoding: Encoding,
    pub(super) shape: Shape,
    /// YAML and indented JSON are for eyes.
    pub(super) pretty: bool,
    /// The shape is called by its old version, `meta.k8s.io/v1beta1`.
    pub(super) beta: bool,
}

impl Form {
    pub(super) const JSON: Self =
        Self { encoding: Encoding::Json, shape: Shape::Whole, pretty: false, beta: false };

    /// The first clause of an `Accept` header that can be served. `protobuf` says whether the kind has that form, and
    /// `shapes` whether it can be shown otherwise than whole.
    pub(super) fn negotiate(accept: &str, protobuf: bool, shapes: bool) -> Result<Self, Status> {
        if accept.trim().is_empty() {
            return Ok(Self::JSON);
        }
        let mut clauses: Vec<Clause<'_>> = accept.split(',').map(Clause::parse).collect();
        clauses.sort_by(|left, right| right.quality.total_cmp(&left.quality));
        let served = clauses.iter().find_map(|clause| clause.serve(protobuf, shapes));
        served.ok_or_else(|| {
            // It is said of custom resources, too, which have no protobuf.
            Status::not_acceptable(&[JSON, YAML, PROTOBUF])
        })
    }

    /// Whether a client takes any of some forms.
    pub(super) fn offers(accept: &str, forms: &[&str]) -> bool {
        let known = |clause: &str| {
            let range = clause.split(';').next().unwrap_or_default().trim();
            range == "*/*" || forms.contains(&range)
        };
        accept.trim().is_empty() || accept.split(',').any(known)
    }

    /// Refuses what no route to a built-in kind has, before anybody looks closer.
    pub(super) fn exists(accept: &str, streams: bool) -> Result<(), Status> {
        const ALL: [&str; 5] = [JSON, YAML, PROTOBUF, JSON_STREAM, PROTOBUF_STREAM];
        if Self::offers(accept, &ALL) {
            return Ok(());
        }
        Err(Status::no_such_form(if streams { &ALL } else { &ALL[..3] }))
    }

    /// Whether one object or many are asked for must be what the path leads to. `go` is upstream's type of that.
    pub(super) fn suits(self, many: bool, go: &str) -> Result<Self, Status> {
        match (self.shape, many) {
            (Shape::Metadata, true) => Err(Status::unsuitable(&format!(
                "you requested PartialObjectMetadata, but the requested object is a list ({go})"
            ))),
            (Shape::MetadataList, false) => Err(Status::unsuitable(&format!(
                "you requested PartialObjectMetadataList, but the requested object is not a list ({go})"
            ))),
            _ => Ok(self),
        }
    }

    /// The same for a stream of events: none is in YAML.
    pub(super) fn negotiate_stream(accept: &str, protobuf: bool) -> Result<Self, Status> {
        let form = Self::negotiate(accept, protobuf, true)?;
        if form.encoding != Encoding::Yaml {
            return Ok(form);
        }
        let supported: &[&str] = if protobuf { &[JSON_STREAM, PROTOBUF_STREAM] } else { &[JSON_STREAM] };
        Err(Status::not_acceptable(supported))
    }

    pub(super) fn content_type(self) -> &'static str {
        match self.encoding {
            Encoding::Json => JSON,
            Encoding::Yaml => YAML,
            Encoding::Protobuf => PROTOBUF,
        }
    }

    /// The same of a stream of events.
    pub(super) fn stream_type(self) -> &'static str {
        match self.encoding {
            Encoding::Protobuf => PROTOBUF_STREAM,
            _ => JSON,
        }
    }
}

/// One media range with its parameters.
#[derive(Debug)]
struct Clause<'a> {
    range: &'a str,
    shape: Option<&'a str>,
    group: &'a str,
    version: &'a str,
    pretty: bool,
    quality: f32,
}

impl<'a> Clause<'a> {
    fn parse(text: &'a str) -> Self {
        let mut parts = text.split(';').map(str::trim);
        let range = parts.next().unwrap_or_default();
        let mut clause = Self { range, shape: None, group: "", version: "", pretty: false, quality: 1.0 };
        for (key, value) in parts.filter_map(|part| part.split_once('=')) {
            match key {
                "as" => clause.shape = Some(value),
                "g" => clause.group = value,
                "v" => clause.version = value,
                "pretty" => clause.pretty = value == "1",
                "q" => clause.quality = value.parse().unwrap_or(1.0),
                _ => {}
            }
        }
        clause
    }

    fn serve(&self, protobuf: bool, shapes: bool) -> Option<Form> {
        let shape = match (self.shape, self.group, self.version) {
            (None, ..) => Shape::Whole,
            (Some("Table"), "meta.k8s.io", "v1" | "v1beta1") if shapes => Shape::Table,
            (Some("PartialObjectMetadata"), "meta.k8s.io", "v1" | "v1beta1") if shapes => Shape::Metadata,
            (Some("PartialObjectMetadataList"), "meta.k8s.io", "v1" | "v1beta1") if shapes => {
                Shape::MetadataList
            }
            _ => return None,
        };
        let encoding = match self.range {
            JSON | "*/*" | "application/*" => Encoding::Json,
            YAML => Encoding::Yaml,
            PROTOBUF if protobuf && shape == Shape::Whole => Encoding::Protobuf,
            _ => return None,
        };
        Some(Form { encoding, shape, pretty: self.pretty, beta: self.version == "v1beta1" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(accept: &str) -> Option<(Encoding, Shape)> {
        Form::negotiate(accept, true, true).ok().map(|form| (form.encoding, form.shape))
    }

    #[test]
    fn the_first_that_can_be_served_is_served() {
        let table = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
        assert_eq!(form(table), Some((Encoding::Json, Shape::Table)));
        assert_eq!(
            form("application/json;as=Table;v=v9;g=meta.k8s.io,application/json"),
            Some((Encoding::Json, Shape::Whole))
        );
        assert_eq!(
            form("application/vnd.kubernetes.protobuf, */*"),
            Some((Encoding::Protobuf, Shape::Whole))
        );
        assert_eq!(form("application/cbor,application/json"), Some((Encoding::Json, Shape::Whole)));
        assert_eq!(form(""), Some((Encoding::Json, Shape::Whole)));
        assert_eq!(form("application/json;q=0.5, application/yaml"), Some((Encoding::Yaml, Shape::Whole)));
        assert_eq!(form("text/html"), None);
    }

    #[test]
    fn custom_resources_have_no_protobuf() {
        let form = Form::negotiate("application/vnd.kubernetes.protobuf,application/json", false, true);
        assert_eq!(form.map(|form| form.encoding), Ok(Encoding::Json));
        assert!(Form::negotiate(PROTOBUF, false, true).is_err());
    }

    proptest::proptest! {
        #[test]
        fn no_header_is_too_much(accept in ".{0,60}") {
            let _ = Form::negotiate(&accept, true, true);
        }
    }
}
