//! Additions of vendors to the user-level interface: none
