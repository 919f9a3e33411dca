//! Where in an object a field stands, as errors name it: `spec.containers[0].resources.limits[cpu]`.
//!
//! A path is a chain on the stack; text is made only when something is wrong.

use std::fmt;

/// One step below another path.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Path<'a> {
    Top(&'a str),
    Field(&'a Path<'a>, &'a str),
    Index(&'a Path<'a>, usize),
    Key(&'a Path<'a>, &'a str),
}

impl Path<'_> {
    pub(crate) fn field<'b>(&'b self, name: &'b str) -> Path<'b> {
        Path::Field(self, name)
    }

    pub(crate) fn index(&self, index: usize) -> Path<'_> {
        Path::Index(self, index)
    }

    pub(crate) fn key<'b>(&'b self, key: &'b str) -> Path<'b> {
        Path::Key(self, key)
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Path::Top(name) => f.write_str(name),
            Path::Field(above, name) => write!(f, "{above}.{name}"),
            Path::Index(above, index) => write!(f, "{above}[{index}]"),
            Path::Key(above, key) => write!(f, "{above}[{key}]"),
        }
    }
}

impl From<Path<'_>> for String {
    fn from(path: Path<'_>) -> Self {
        path.to_string()
    }
}

impl From<&Path<'_>> for String {
    fn from(path: &Path<'_>) -> Self {
        path.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_reads_as_upstream_writes_it() {
        let spec = Path::Top("spec");
        let containers = spec.field("containers");
        let first = containers.index(0);
        let limits = first.field("limits");
        assert_eq!(limits.key("cpu").to_string(), "spec.containers[0].limits[cpu]");
    }
}
