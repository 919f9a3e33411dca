//! Subjects that do not want to be convicted: nothing that they do from inside a run changes its verdict.

use scaleproof::history::{SubjectChange, What};

use crate::workshop::{Workshop, events};

/// More pods than its maximum has room for.
const TOO_MANY: &str = "
title: More pods than there may be nodes
expect: [MM-01]
given:
  pools: {small: {min: 0, max: 2}}
steps:
  - deploy: {name: web, pods: 5, cpu: 2500m, memory: 1Gi}
  - wait: 5m
";

/// What everybody else in a run trusts in is on ports of its parent.
#[test]
fn one_that_looks_for_an_administration_finds_none() {
    let workshop = Workshop::open("looks-round");
    let answers = workshop.path("answers");
    let look = workshop.write(
        "look.sh",
        r#"
            inodes=" $(ls -l "/proc/$1/fd" | sed -n 's/.*socket:\[\([0-9]*\)\].*/\1/p' | tr '\n' ' ')"
            while read -r _ local _ state _ _ _ _ _ inode _; do
                case "$state $inodes" in "0A "*" $inode "*) ;; *) continue ;; esac
                exec 3<>"/dev/tcp/127.0.0.1/$((16#${local#*:}))" || continue
                printf 'GET / HTTP/1.0\r\n\r\n' >&3
                timeout 2 cat <&3
                exec 3>&-
            done <<<"$(cat /proc/net/tcp)"
        "#,
    );
    let program = workshop
        .script(&format!("bash {look} $PPID >{answers} 2>&1\nexec $MOCK --defect=ignores-max \"$@\""));
    let (code, out, _) = workshop.run(TOO_MANY, Some(&program));
    assert!(code == 1 && out.contains("MM-01 MUST"), "{code}: {out}");
    let answers = String::from_utf8_lossy(&std::fs::read(&answers).unwrap()).into_owned();
    assert!(answers.contains("HTTP/1."), "it found the cloud, at least: {answers}");
    assert!(!answers.contains("administration"), "{answers}");
}

#[test]
fn one_that_talks_nonsense_to_its_own_door_is_convicted_all_the_same() {
    let workshop = Workshop::open("nonsense");
    let program = workshop.script(
        r#"
            for word; do case $word in --kubeconfig=*) file=${word#*=} ;; esac; done
            at=$(sed -n 's#.*https://\([0-9.]*\):\([0-9]*\).*#/dev/tcp/\1/\2#p' "$file" | head -n 1)
            bash -c "exec 3<>$at; printf '\026\003\001\000\005hello' >&3; cat <&3 >/dev/null"
            exec $MOCK --defect=ignores-max "$@"
        "#,
    );
    let (code, out, _) = workshop.run(TOO_MANY, Some(&program));
    assert!(code == 1 && out.contains("MM-01 MUST"), "{code}: {out}");
    let history = workshop.history();
    let misspoke = |what: &What| matches!(what, What::Subject(told) if matches!(told.change, SubjectChange::Misspoke { .. }));
    assert_eq!(events(&history, |what| misspoke(what).then_some(())).len(), 1);
    assert!(events(&history, |what| matches!(what, What::Trouble(_)).then_some(())).is_empty());
}
