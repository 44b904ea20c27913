//! The shortest list of requests that still fails.

/// Leaves parts of a list out as long as the rest still fails: large parts first, single items last (delta debugging after Zeller
/// and Hildebrandt 2002). In the end no item can be left out.
pub fn shrink<T: Clone>(mut list: Vec<T>, fails: impl Fn(&[T]) -> bool) -> Vec<T> {
    let mut part = list.len().div_ceil(2);
    while part > 0 {
        let before = list.len();
        let mut at = 0;
        while at < list.len() {
            let end = list.len().min(at + part);
            let rest = [&list[..at], &list[end..]].concat();
            if fails(&rest) {
                list = rest;
            } else {
                at = end;
            }
        }
        let again = part == 1 && list.len() < before;
        part = if again { 1 } else { part / 2 };
    }
    list
}

#[test]
fn what_matters_is_left() {
    let fails = |list: &[u32]| list.contains(&17) && list.iter().filter(|item| **item % 5 == 0).count() >= 2;
    let shortest = shrink((0..100).collect(), fails);
    assert_eq!(shortest.len(), 3);
    assert!(fails(&shortest));
}
