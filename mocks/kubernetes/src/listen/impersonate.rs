//! Whom a request acts as: its headers may name somebody else than who sent it.

use std::collections::BTreeMap;

use hyper::HeaderMap;

use super::identity::{Attempt, User};
use crate::status::Status;

const USER: &str = "impersonate-user";
const GROUP: &str = "impersonate-group";
const UID: &str = "impersonate-uid";
const EXTRA: &str = "impersonate-extra-";
const ACCOUNT: &str = "system:serviceaccount:";

/// The user that counts: the sender, or whom the sender acts as. Whoever is known may act as anybody.
pub(crate) fn acting(sender: User, headers: &HeaderMap) -> Result<User, Status> {
    let name = all(headers, USER).next().unwrap_or_default();
    let groups: Vec<String> = all(headers, GROUP).map(str::to_owned).collect();
    let uid = all(headers, UID).next().unwrap_or_default();
    let extra = extra(headers);
    if name.is_empty() {
        let asked = asked(&groups, &extra, uid);
        if asked.is_empty() {
            return Ok(sender);
        }
        let asked = asked.join(" ");
        return Err(Status::bad_request(format!("requested [{asked}] without impersonating a user")));
    }
    if sender.is_anonymous() {
        return Err(refused(&sender, name));
    }
    let groups = if groups.is_empty() { groups_of(name) } else { groups };
    Ok(User::acted(name, groups, uid, extra))
}

fn all<'h>(headers: &'h HeaderMap, name: &str) -> impl Iterator<Item = &'h str> {
    let texts: Vec<&str> = headers.get_all(name).iter().filter_map(|value| value.to_str().ok()).collect();
    texts.into_iter()
}

fn extra(headers: &HeaderMap) -> BTreeMap<String, Vec<String>> {
    let mut extra: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, value) in headers {
        if let (Some(key), Ok(value)) = (name.as_str().strip_prefix(EXTRA), value.to_str()) {
            extra.entry(crate::serve::decoded(key)).or_default().push(value.to_owned());
        }
    }
    extra
}

/// What was asked for beside a user, as upstream prints it.
fn asked(groups: &[String], extra: &BTreeMap<String, Vec<String>>, uid: &str) -> Vec<String> {
    const VERSION: &str = "authentication.k8s.io/v1";
    let mut asked: Vec<String> = groups.iter().map(|group| format!("{{Group  {group}    }}")).collect();
    for (key, values) in extra {
        asked.extend(values.iter().map(|value| format!("{{UserExtra  {value}  {VERSION}  {key}}}")));
    }
    if !uid.is_empty() {
        asked.push(format!("{{UID  {uid}  {VERSION}  }}"));
    }
    asked
}

/// The namespace and the name of a service account, if that is whose name it is.
fn account(name: &str) -> Option<(&str, &str)> {
    let (namespace, account) = name.strip_prefix(ACCOUNT)?.split_once(':')?;
    (!namespace.is_empty() && !account.is_empty() && !account.contains(':')).then_some((namespace, account))
}

/// The groups of somebody of whom no groups are said.
fn groups_of(name: &str) -> Vec<String> {
    account(name)
        .map_or_else(Vec::new, |(namespace, account)| User::service_account(namespace, account, "").groups)
}

fn refused(sender: &User, name: &str) -> Status {
    let (resource, namespace, name) = match account(name) {
        Some((namespace, account)) => ("serviceaccounts", namespace, account),
        None => ("users", "", name),
    };
    sender.forbidden(&Attempt { verb: "impersonate", resource, namespace, name, ..Attempt::default() })
}

#[cfg(test)]
mod tests {
    use hyper::header::HeaderName;

    use super::*;

    fn act(sender: User, headers: &[(&str, &str)]) -> Result<User, Status> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(name.parse::<HeaderName>().unwrap(), value.parse().unwrap());
        }
        acting(sender, &map)
    }

    fn admin() -> User {
        User::new("admin", ["system:masters".to_owned()])
    }

    #[test]
    fn who_names_nobody_acts_alone() {
        assert_eq!(act(admin(), &[]), Ok(admin()));
    }

    #[test]
    fn groups_come_with_the_name_unless_they_are_said() {
        let groups = |headers: &[(&str, &str)]| act(admin(), headers).unwrap().groups;
        assert_eq!(groups(&[(USER, "jane")]), ["system:authenticated"]);
        assert_eq!(groups(&[(USER, "jane"), (GROUP, "a"), (GROUP, "b")]), ["a", "b", "system:authenticated"]);
        assert_eq!(groups(&[(USER, "system:anonymous")]), ["system:unauthenticated"]);
        assert_eq!(
            groups(&[(USER, "system:serviceaccount:default:web")]),
            ["system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"]
        );
    }

    #[test]
    fn all_that_is_said_of_somebody_is_taken_over() {
        let jane = act(admin(), &[(USER, "jane"), (UID, "7"), ("impersonate-extra-a%2fb", "x")]).unwrap();
        assert_eq!((jane.name.as_str(), jane.uid.as_str()), ("jane", "7"));
        assert_eq!(jane.extra, BTreeMap::from([("a/b".to_owned(), vec!["x".to_owned()])]));
    }

    #[test]
    fn a_group_alone_and_a_stranger_are_refused() {
        let error = act(admin(), &[(GROUP, "a")]).unwrap_err();
        assert_eq!(
            (error.code, error.message.as_str()),
            (400, "requested [{Group  a    }] without impersonating a user")
        );
        let error = act(User::anonymous(), &[(USER, "jane")]).unwrap_err();
        assert_eq!(error.code, 403);
        assert_eq!(
            error.message,
            "users \"jane\" is forbidden: User \"system:anonymous\" cannot impersonate resource \"users\" in API group \
             \"\" at the cluster scope"
        );
    }
}
