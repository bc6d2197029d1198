//! Numbers, ages and lists in words.
