//! Whole-system tests: controller, driver and cluster together.
