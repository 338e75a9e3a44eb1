//! Drag of a triangle that moves through air or stands in the wind (P4, P5), by the square of the speed.

use crate::math::DVec3;
use crate::model::AirModel;

/// Force on a triangle [N].
///
/// `normal` is twice the area along the unit normal [m²], `stream` the velocity of the air relative to the triangle [m/s], `area_mass` in
/// kg/m². Across the surface ρ C A |u| u / 2 with u the normal part of the stream, along it the same with the friction coefficient; lift
/// adds to the drag in proportion to the speed along the surface. Held for
/// the duration `h` such a force could turn the stream round; no part may change the velocity by more than itself.
pub fn force(normal: DVec3, stream: DVec3, air: &AirModel, area_mass: f64, h: f64) -> DVec3 {
    let squared = normal.length_squared();
    if squared == 0.0 {
        return DVec3::ZERO;
    }
    let across = normal * (stream.dot(normal) / squared);
    let along = stream - across;
    let lift = air.lift * along.length();
    let part = |u: DVec3, coefficient: f64, more: f64| {
        let pressure_per_speed = 0.5 * air.density * coefficient * u.length() + 0.5 * air.density * more;
        u * (pressure_per_speed / (h * pressure_per_speed / area_mass).max(1.0))
    };
    (part(across, air.drag, lift) + part(along, air.skin_friction, 0.0)) * (0.5 * squared.sqrt())
}
