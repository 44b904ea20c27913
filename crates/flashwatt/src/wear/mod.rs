//! Wear levelling.

/// Names and one-line docs of every policy that a configuration can name.
pub const NAMES: &[(&str, &str)] = &[
    ("none", "free blocks are taken in the order in which they were erased"),
    ("dynamic", "the least worn free block is taken first"),
    ("static_swap", "as dynamic, and a victim worn far above the mean is swapped with the coldest block"),
];
