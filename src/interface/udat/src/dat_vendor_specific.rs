//! Additions of vendors that both interfaces share: none
