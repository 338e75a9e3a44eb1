//! The certificate: strain and intersections, measured by code that shares nothing with the solvers.
