// Many members of one model, and the rules by which each of them cuts its own steps. `src/batch/layout.rs` has the same structures.

// Bends that share no particle.
struct Alone {
  const int4 *points;
  const float4 *turns;
  i64 count;
};

// Triangles that the air pushes.
struct Triangles {
  const int4 *corners;
  const float *area_mass;      // [kg/m²]
  const int *around_from;      // of every particle
  const int *around;
  i64 count;
};

// `SubstepController` and `Pace` of the host in numbers.
struct Rules {
  double step_time;            // [s]
  double fewest, most;         // sub-steps
  double fixed;                // sub-steps that the scene asks for, 0 for none
  double added_mass;           // share of the kinetic energy that added mass should have at most [1]
  double added_mass_lost;      // the share at which a step is lost [1]
  double infeasible_end;       // strain before last sweeps at which it is [1]
  double retry_factor;         // more sub-steps from one try to the next [1]
  double error_time;           // [s]
  double damping;              // [1/s]
  double wind[3];              // [m/s]
  double stiffest[2];          // bends over inertia [1/s², 1/s]
  double moment_error;         // what rounds may leave of a moment [1]
  int retries_lost, retries_missed, many_sweeps, air_renewals;
};

// What a member remembers, and tells of its last step.
struct Member {
  double wanted;               // sub-steps for the next step, 0 before the first
  u64 step;                    // steps since the start
  int missed;                  // whether the last step missed its tolerance
  int failed;                  // whether it came to what is no number: the member is where it was
  int substeps, sweeps, tries; // of the last step; sub-steps over all of its tries
  int most_substeps;           // of its last try
};

struct Batch {
  Sheet sheet;                 // lists that all members share
  const Group *hard, *soft;
  const Alone *alone;
  Triangles air_on;
  Air air;
  Rules rules;
  Pace pace;                   // what no length of a sub-step changes
  // Member by member:
  double *positions, *velocities; // three for every particle [m, m/s]
  float *tensions;             // at places of lanes [N/m]
  Member *members;
  const double *places;        // where every handle is to be [m]
  const unsigned char *held;   // whether it is held
  unsigned char *work;         // what does not go into the memory that threads share
  u64 work_bytes;
  const int *handles;          // particles
  int handle_count, hard_groups, soft_groups, alone_groups;
  int tension_count, hard_tension_count;
  float bend_mobility;
  int room;
};
