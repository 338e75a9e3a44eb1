// Jolt Physics (npm i jolt-physics), as WebAssembly: soft bodies by XPBD, whose iterations are sub-steps. Diagonals are soft.
// Run in a folder whose node_modules has jolt-physics.
import { mkdirSync, readFileSync, writeFileSync, openSync, writeSync, closeSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const [, , out, text] = process.argv;
const settings = JSON.parse(text);
const { n } = settings, drape = settings.scene === 'drape', ball = 0.3, friction = 0.3, mass = 0.2;
const folder = `${process.cwd()}/node_modules/jolt-physics`;
const { version } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'));
const { default: load } = await import(pathToFileURL(`${folder}/dist/jolt-physics.wasm-compat.js`).href);
const Jolt = await load();

// A world in which soft bodies (layer 1) meet fixed ones (layer 0).
const world = new Jolt.JoltSettings();
world.mMaxWorkerThreads = 0;
const pairs = new Jolt.ObjectLayerPairFilterTable(2);
pairs.EnableCollision(0, 1);
const layers = new Jolt.BroadPhaseLayerInterfaceTable(2, 2);
for (const layer of [0, 1]) layers.MapObjectToBroadPhaseLayer(layer, new Jolt.BroadPhaseLayer(layer));
world.mObjectLayerPairFilter = pairs;
world.mBroadPhaseLayerInterface = layers;
world.mObjectVsBroadPhaseLayerFilter = new Jolt.ObjectVsBroadPhaseLayerFilterTable(layers, 2, pairs, 2);
const jolt = new Jolt.JoltInterface(world), system = jolt.GetPhysicsSystem(), bodies = system.GetBodyInterface();
system.SetGravity(new Jolt.Vec3(0, -9.81, 0));
const still = Jolt.Quat.prototype.sIdentity();
if (drape) {
  const about = new Jolt.BodyCreationSettings(new Jolt.SphereShape(ball), new Jolt.RVec3(0, 0, 0), still, Jolt.EMotionType_Static, 0);
  about.mFriction = friction;
  bodies.CreateAndAddBody(about, Jolt.EActivation_DontActivate);
}

// The sheet of peers/sheet.py.
const shape = new Jolt.SoftBodySharedSettings(), edge = 1 / (n - 1), start = new Float64Array(3 * n * n);
const vertex = new Jolt.SoftBodySharedSettingsVertex();
for (let i = 0; i < n * n; i++) {
  const place = [(i % n) * edge - 0.5, drape ? ball + 0.05 : 0, Math.floor(i / n) * edge - 0.5];
  start.set(place, 3 * i);
  vertex.mPosition = new Jolt.Float3(...place);
  vertex.mInvMass = !drape && (i === 0 || i === n - 1) ? 0 : (n * n) / mass;
  shape.mVertices.push_back(vertex);
}
const join = (a, b, compliance) => {
  const spring = new Jolt.SoftBodySharedSettingsEdge(a, b, compliance);
  shape.mEdgeConstraints.push_back(spring);
  Jolt.destroy(spring);
};
for (let i = 0; i < n * n; i++) {
  const right = i % n < n - 1, below = i < n * (n - 1);
  if (right) join(i, i + 1, 0);
  if (below) join(i, i + n, 0);
  if (!right || !below) continue;
  join(i, i + n + 1, 0.01);
  for (const corners of [[i, i + n + 1, i + 1], [i, i + n, i + n + 1]]) {
    const face = new Jolt.SoftBodySharedSettingsFace(...corners, 0);
    shape.AddFace(face);
    Jolt.destroy(face);
  }
}
shape.CalculateEdgeLengths();
shape.Optimize();
const about = new Jolt.SoftBodyCreationSettings(shape, new Jolt.RVec3(0, 0, 0), still, 1);
Object.assign(about, {
  mNumIterations: settings.substeps, mLinearDamping: 0, mFriction: friction, mRestitution: 0, mUpdatePosition: false,
  mAllowSleeping: false, mVertexRadius: 0.002, mMaxLinearVelocity: 500,
});
const sheet = bodies.CreateSoftBody(about);
bodies.AddBody(sheet.GetID(), Jolt.EActivation_Activate);
const points = Jolt.castObject(sheet.GetMotionProperties(), Jolt.SoftBodyMotionProperties).GetVertices();

mkdirSync(out, { recursive: true });
const film = openSync(`${out}/frames.f64`, 'w'), cpu = [], wall = [];
const write = (numbers) => writeSync(film, new Uint8Array(numbers.buffer));
write(start);
const now = new Float64Array(3 * n * n);
for (let k = 0; k < settings.frames; k++) {
  const spent = process.cpuUsage(), begun = performance.now();
  jolt.Step(1 / 30, 1);
  const used = process.cpuUsage(spent);
  wall.push(performance.now() - begun);
  cpu.push((used.user + used.system) / 1e3);
  for (let i = 0; i < n * n; i++) {
    const place = points.at(i).mPosition;
    now.set([place.GetX(), place.GetY(), place.GetZ()], 3 * i);
  }
  write(now);
  if (!now.every((x) => Math.abs(x) < 100) || cpu.reduce((a, b) => a + b) > 1e3 * (settings.seconds ?? 1e9)) break;
}
closeSync(film);
writeFileSync(`${out}/peer.json`, JSON.stringify({ peer: 'Jolt (wasm)', version, settings, cpu_ms: cpu, wall_ms: wall }));
process.exit(0);
