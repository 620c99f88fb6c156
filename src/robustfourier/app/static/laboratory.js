// The laboratory: two networks trained side by side, and a link that says how.
"use strict";
(() => {
  const { $, el, ask, follow, warn, css } = RF;
  const LINKS = ["identity", "cube", "tanh", "relu", "square", "abs", "exp"];
  const WITH = { layers: 1, diagonal: true, training: "joint", init: "symmetric", modes: 100, width: 100, rate: 0.002, ridge: 0, batch: 201 };
  const WITHOUT = Object.assign({}, WITH, { diagonal: false, init: "glorot" });
  const FAST = Object.assign({}, WITH, { rate: 0.004 });  // a minute is short
  const ALONE = Object.assign({}, WITH, { layers: 0 });
  const THEOREM = Object.assign({}, ALONE, { training: "layerwise", init: "theory", rate: 0.1, ridge: 0.5, batch: 2000 });
  const PRESETS = {
    "The point of the paper": { example: "1", noise: 0.4, seed: 0, steps: 12000, networks: [FAST, Object.assign({}, WITHOUT, { rate: FAST.rate })] },
    "Nonlinear links": { example: "3", noise: 0.4, seed: 0, steps: 20000, networks: [Object.assign({}, WITH, { layers: 2 }), Object.assign({}, WITHOUT, { layers: 2 })] },
    "A real series": { example: "4", noise: 0.4, seed: 0, steps: 12000, networks: [WITH, WITHOUT] },
    "Theorem 1": { example: "1", noise: 0.4, seed: 0, steps: 800, networks: [THEOREM, Object.assign({}, THEOREM, { ridge: 0.05 })] },
    "How to start": { example: "1", noise: 0.4, seed: 0, steps: 40000, networks: [ALONE, Object.assign({}, ALONE, { init: "glorot" })] },
  };
  const FIELDS = [["layers", "Dense layers", [[0, "none (u0)"], [1, "1 (u1)"], [2, "2 (u2)"], [3, "3 (u3)"]]], ["diagonal", "Diagonal layer", [["true", "yes"], ["false", "no"]]],
    ["training", "Training", [["joint", "all at once"], ["layerwise", "layer by layer"]]], ["init", "Start", [["symmetric", "symmetric (ours)"], ["glorot", "Glorot (the paper’s)"], ["antisymmetric", "antisymmetric"], ["theory", "of the theory"]]],
    ["modes", "Modes"], ["width", "Width"], ["rate", "Learning rate"], ["ridge", "Decay λ"], ["batch", "Batch"]];
  let components = [{ mode: 5, link: "identity", kind: "cos", amplitude: 0.5 }, { mode: 29, link: "tanh", kind: "cos", amplitude: 0.8 }];
  let job = null, following = null, paused = false, problem = null, curves = null, last = [null, null], names = ["", ""], fresh = false;

  const form = $("knobs");
  document.querySelectorAll("[data-network]").forEach((host) => FIELDS.forEach(([name, words, options]) => {
    const id = name + host.dataset.network;
    host.append(el("label", {}, words, options ? el("select", { name: id }, ...options.map(([value, text]) => el("option", { value }, text))) : el("input", { name: id, type: "number", step: "any", min: 0 })));
  }));
  function put(setting) {
    for (const name of ["example", "noise", "seed", "steps"]) form[name].value = setting[name];
    setting.networks.forEach((network, i) => FIELDS.forEach(([name]) => { form[name + i].value = String(network[name]); }));
    if (setting.components && setting.components.length) components = setting.components;
    own();
  }
  function get() {
    const network = (i) => Object.fromEntries(FIELDS.map(([name]) => { const value = form[name + i].value; return [name, name === "diagonal" ? value === "true" : name === "training" || name === "init" ? value : Number(value)]; }));
    const setting = { example: form.example.value, noise: Number(form.noise.value), seed: Number(form.seed.value), steps: Number(form.steps.value), networks: [network(0), network(1)] };
    if (setting.example === "own") setting.components = components;
    return setting;
  }
  function own() {
    $("own").hidden = form.example.value !== "own";
    const change = (i, name, number) => ({ on: { input: (event) => { components[i][name] = number ? Number(event.target.value) : event.target.value; written(); } } });
    const pick = (i, name, options) => el("select", Object.assign({ "aria-label": name }, change(i, name)), ...options.map((o) => el("option", { value: o, selected: components[i][name] === o }, o)));
    $("own").replaceChildren(...components.map((one, i) => el("div", { class: "component" },
      el("input", Object.assign({ type: "number", min: 1, max: 90, value: one.mode, "aria-label": "mode" }, change(i, "mode", true))), pick(i, "link", LINKS), pick(i, "kind", ["cos", "sin"]),
      el("input", Object.assign({ type: "number", step: "any", value: one.amplitude, "aria-label": "amplitude" }, change(i, "amplitude", true))),
      el("button", { type: "button", class: "small", "aria-label": "Remove", on: { click: () => { components.splice(i, 1); own(); written(); } } }, "×"))),
    el("button", { type: "button", class: "small", disabled: components.length > 7, on: { click: () => { components.push({ mode: 11, link: "identity", kind: "cos", amplitude: 0.5 }); own(); written(); } } }, "Add a component"));
  }
  // The address carries the whole setting, so that it can be sent to somebody.
  function written() { history.replaceState(null, "", "#" + encodeURIComponent(JSON.stringify(get()))); }
  form.addEventListener("input", () => { own(); written(); });
  $("preset").append(...Object.keys(PRESETS).map((name) => el("option", { value: name }, name)), el("option", { value: "" }, "as below"));
  $("preset").addEventListener("change", (event) => { if (event.target.value) { put(PRESETS[event.target.value]); written(); start(); } });
  form.addEventListener("change", () => { $("preset").value = ""; });
  $("link").addEventListener("click", () => { written(); navigator.clipboard.writeText(location.href).then(() => { $("link").textContent = "Copied"; setTimeout(() => { $("link").textContent = "Copy link"; }, 1500); }); });

  // -- pictures ---------------------------------------------------------------------------------
  const line = (colour, width) => ({ stroke: () => css(colour), width: width || 2, points: { show: false }, spanGaps: true });
  // A logarithmic axis needs two finite positive ends, whole in their first digit: uPlot steps on
  // from the lower one, and from 0.0096 it would step for ever.
  const logRange = (low, high) => { const from = low > 0 && isFinite(low) ? low : 0.1, to = high >= from && isFinite(high) ? high : 10 * from; const digit = (value, round) => { const power = 10 ** Math.floor(Math.log10(value)); return round(value / power) * power; }; return [digit(0.9 * from, Math.floor), digit(1.05 * to, Math.ceil)]; };
  const plots = {
    error: RF.chart($("plot-error"), { scales: { x: { time: false }, y: { distr: 3, range: (u, low, high) => logRange(low, high) } }, axes: RF.axes("steps", "relative error"), series: [{}, line("--c0", 2.4), line("--c1", 2.4)] }, [[], [], []]),
    weights: [0, 1].map((i) => RF.stems($("plot-weights" + i), "mode (cycles over the record)", "weight", "--c" + i, () => (problem ? problem.targets : []), () => (last[i] ? largest(last[i]) : []))),
    shape: RF.chart($("plot-function"), { scales: { x: { time: false } }, axes: RF.axes("θ (a part of the record)", "value"), series: [{}, { paths: () => null, points: { show: true, size: 3, fill: () => css("--rule"), stroke: () => css("--faint"), width: 0.5 } }, line("--faint", 4), line("--c0", 1.8), line("--c1", 1.8)] }, [[], [], [], [], []]),
  };
  // How modes of the diagonal awake, and the time at which the chosen false-alarm level ends it.
  let growth = null, growing = null;
  const level = () => Number($("level").value);
  const digits = (value) => String(+value.toPrecision(2));
  function showGrowth(frame) {
    growth = frame;
    if (growing) growing.destroy();
    const inside = frame.modes.map((mode) => problem.targets.includes(mode));
    const stop = (u) => { const x = u.valToPos(growth.stop[level()], "x", true), ctx = u.ctx; ctx.save(); ctx.strokeStyle = css("--c1"); ctx.lineWidth = 2 * (devicePixelRatio || 1); ctx.beginPath(); ctx.moveTo(x, u.bbox.top); ctx.lineTo(x, u.bbox.top + u.bbox.height); ctx.stroke(); ctx.restore(); };
    growing = RF.chart($("plot-growth"), { scales: { x: { time: false, distr: 3 }, y: { distr: 3, range: (u, low, high) => logRange(5e-4 * high, high) } }, axes: RF.axes("training time (sum of the rates)", "amplitude"), hooks: { draw: [stop] },
      series: [{}, ...frame.modes.map((_, i) => line(inside[i] ? "--c0" : "--faint", inside[i] ? 2.2 : 1))] }, [frame.time, ...frame.size.map((part) => part.map((size) => size || null))]);
    tellGrowth();
  }
  function tellGrowth() {
    const i = level(), end = growth.stop[i], x = growth.noise[i];
    const awake = growth.modes.map((mode, k) => ({ mode, at: growth.time[growth.size[k].findIndex((size) => size >= x)] })).filter((one) => one.at <= end).sort((a, b) => a.at - b.at);
    $("growth").textContent = "Level " + digits(growth.levels[i]) + ": training stops at t = " + digits(end) + ", when a mode of gradient " + digits(x) + " would have grown to that. " +
      (awake.length ? "Awake by then, the strongest first: " + awake.map((one) => "mode " + one.mode + " (t = " + digits(one.at) + ")").join(", ") + "." : "No mode is awake by then.");
    document.body.dataset.stop = end; document.body.dataset.awake = awake.map((one) => one.mode).join(" ");
    growing.redraw(false);
  }
  $("level").addEventListener("input", () => { if (growth) tellGrowth(); });
  function draw() {
    if (!fresh) return;
    fresh = false;
    const steps = [...new Set([...curves[0].keys(), ...curves[1].keys()])].sort((a, b) => a - b);
    plots.error.setData([steps, ...curves.map((curve) => steps.map((s) => (curve.has(s) ? curve.get(s) : null)))]);
    last.forEach((frame, i) => { if (frame) plots.weights[i].setData([frame.weights.map((_, k) => k + 1), frame.weights, frame.predicted || []]); });
    plots.shape.setData([problem.theta, problem.y, problem.truth, ...last.map((f) => (f ? f.fitted : problem.theta.map(() => null)))]);
    story();
  }
  // As many of its largest weights as the signal has modes.
  const largest = (frame) => frame.weights.map((weight, k) => [weight, k + 1]).sort((x, y) => y[0] - x[0]).slice(0, problem.targets.length).map(([, mode]) => mode);
  const right = (frame) => largest(frame).filter((mode) => problem.targets.includes(mode)).length;
  const has = (i) => form["diagonal" + i].value === "true", differ = () => has(0) !== has(1);
  const short = (i) => (differ() ? (has(i) ? "with the diagonal" : "without it") : ["the first network", "the second network"][i]);
  const off = (value) => (100 * value).toFixed(1) + " %";
  function story() {
    const [a, b] = last;
    if (!a || !b) return;
    const count = problem.targets.length;
    [a, b].forEach((frame, i) => {
      $("score" + i).textContent = off(frame.error);
      $("name" + i).textContent = $("short" + i).textContent = short(i);
      $("title" + i).textContent = (differ() ? (has(i) ? "With the diagonal layer" : "Without it") : ["First network", "Second network"][i]) + " (" + names[i] + ")";
      $("legend" + i).replaceChildren(el("span", {}, el("i", { class: "i" + i }), (has(i) ? "weight of the diagonal" : "weight in the first layer") + ", the " + count + " largest strong"), el("span", {}, "▼ in the signal"), frame.predicted ? el("span", {}, el("i", { class: "i2" }), "Theorem 1") : "");
    });
    const best = [0, 1].map((i) => Math.min(...curves[i].values())), rising = [0, 1].map((i) => last[i].error > 1.03 * best[i]);
    const ahead = a.error < b.error ? 0 : 1, behind = 1 - ahead, found = last.map(right), one = differ() ? (has(0) ? 0 : 1) : ahead, done = document.body.dataset.state === "done";
    const words = [(done ? "After " : "Step ") + a.step.toLocaleString() + (done ? " steps: " : ": ") + off(last[one].error) + " off the truth " + short(one) + ", " + off(last[1 - one].error) + " " + short(1 - one) + "."];
    if (differ() && !has(ahead) && !done) words.push("Without the diagonal a network follows the data at once, noise included. With it the weights sort themselves out first.");
    else if (found[0] === found[1]) words.push("Of their " + count + " largest weights " + found[0] + " belong to modes that are in the signal.");
    else words.push("Of its " + count + " largest weights " + found[ahead] + " belong to modes that are in the signal; " + short(behind) + " " + found[behind] + " of " + count + ".");
    if (rising[behind]) words.push("The error " + short(behind) + " was " + off(best[behind]) + " and rises again: it learns the noise.");
    $("say").textContent = words.join(" ");
    document.body.dataset.error0 = a.error; document.body.dataset.error1 = b.error; document.body.dataset.step = a.step;
    document.body.dataset.found0 = found[0]; document.body.dataset.found1 = found[1];
  }
  function show(frame) {
    if (frame.t === "problem") { problem = frame; if ($("pictures").hidden) { $("pictures").hidden = false; dispatchEvent(new Event("resize")); } }
    else if (frame.t === "growth") showGrowth(frame);
    else if (frame.t === "picture") {
      const i = frame.network;
      if (frame.name) names[i] = frame.name;
      curves[i].set(frame.step, frame.error); last[i] = frame; fresh = true;
      requestAnimationFrame(draw);
    } else if (frame.t === "diverged") warn("The " + ["first", "second"][frame.network] + " network diverged: use a smaller learning rate.");
    else if (frame.t === "state") { document.body.dataset.state = frame.state; if (frame.state === "done") story(); if (frame.state === "running" && !problem) $("say").textContent = "Preparing …"; if (frame.state === "failed") warn(frame.words); }
  }
  async function start() {
    warn("");
    if (following) following.stop();
    if (job) ask("api/jobs/" + job + "/cancel", {}).catch(() => {});
    written();
    problem = null; curves = [new Map(), new Map()]; last = [null, null]; paused = false;
    delete document.body.dataset.step;
    try { job = (await ask("api/laboratory", get())).id; } catch (error) { return warn(error.message); }
    try { sessionStorage.setItem("training", job); } catch (error) { /* private windows */ }
    watch();
  }
  function watch() {
    buttons(true);
    command("speed", Number($("speed").value), true);
    following = follow(job, show, () => buttons(false));
  }
  function buttons(running) { $("start").textContent = job ? "Start again" : "Start"; $("pause").disabled = $("step").disabled = !running; $("pause").textContent = paused ? "Go on" : "Pause"; }
  function command(name, value, quietly) { return ask("api/jobs/" + job + "/command", { command: name, value: value || 0 }).catch((error) => { if (!quietly) warn(error.message); }); }
  $("start").addEventListener("click", start);
  $("pause").addEventListener("click", () => { paused = !paused; command(paused ? "pause" : "go"); buttons(true); });
  $("step").addEventListener("click", () => { paused = true; command("step"); buttons(true); });
  $("speed").addEventListener("input", (event) => { if (job) command("speed", Number(event.target.value), true); });
  document.addEventListener("redraw", () => { if (problem) { fresh = true; draw(); } });

  let setting = PRESETS["The point of the paper"];
  if (location.hash.length > 1) { try { setting = JSON.parse(decodeURIComponent(location.hash.slice(1))); $("preset").value = ""; } catch (error) { warn("The link could not be read; this is the usual setting."); } }
  try { put(setting); } catch (error) { put(PRESETS["The point of the paper"]); }
  // After a reload the training is still there.
  let earlier = null; try { earlier = sessionStorage.getItem("training"); } catch (error) { /* private windows */ }
  if (earlier) fetch("api/jobs/" + earlier + "/events?after=99999999").then((answer) => { if (answer.ok) { job = earlier; curves = [new Map(), new Map()]; watch(); } answer.body.cancel(); });
})();
