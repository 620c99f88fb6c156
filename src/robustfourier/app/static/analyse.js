// Analyse: drop a file, watch the fit, change it, compare, export.
"use strict";
(() => {
  const { $, el, ask, follow, warn } = RF;
  const STAGES = [["reading", "Reading"], ["sums", "Fourier sums"], ["diagonal", "Diagonal"], ["lines", "Lines"], ["patterns", "Patterns"], ["report", "Report"]];
  const PART_OF = { training: "lines", "summing up": "report", drawing: "report" };
  let state = { files: [], examples: [], limits: {} }, file = null, following = null, answers = {}, chosen = [];
  let plots = null, modesKept = [], ledger = new Map(), read = null, columns = [], seen = null;

  const fitOf = (id) => file && file.fits.find((fit) => fit.id === id);
  const current = () => file && (fitOf(file.current) || file.fits[file.fits.length - 1]);
  const listed = (text) => text.split(/[,;]/).map((part) => part.trim()).filter(Boolean);
  const settingsOf = (fit) => ({ reading: Object.assign({}, fit.reading), asked: Object.assign({}, fit.asked), ...(fit.magnitudes ? { magnitudes: true } : {}) });

  async function refresh() {
    state = await ask("api/state");
    file = state.files.find((one) => "#" + one.id === location.hash) || null;
    $("welcome").hidden = !!file; $("work").hidden = !file;
    if (!file) return welcome();
    document.title = file.name + " · robustfourier";
    const known = listed($("known").value); $("known").value = "";
    if (!file.fits.length) return fit({ reading: {}, asked: {}, ...(known.length ? { rhythm: { periods: known } } : {}) });
    open(current());
  }

  // -- the start ------------------------------------------------------------------------------
  function welcome() {
    document.title = "robustfourier";
    if (following) following.stop();
    $("examples").replaceChildren(...state.examples.map((name) => el("button", { type: "button", on: { click: () => guarded(async () => go((await ask("api/examples/" + name, {})).id)) } }, name.replaceAll("_", " "))));
    $("recent").hidden = !state.files.length;
    $("recent").querySelector("ul").replaceChildren(...state.files.slice().reverse().map((one) => el("li", {},
      el("a", { href: "#" + one.id }, one.name), el("span", {}, one.fits.length + (one.fits.length === 1 ? " fit, " : " fits, ") + new Date(one.at * 1000).toLocaleDateString()),
      el("button", { type: "button", class: "small", "aria-label": "Forget " + one.name, on: { click: () => guarded(async () => { await ask("api/files/" + one.id + "/forget", {}); await refresh(); }) } }, "Forget"))));
  }
  function go(id) { location.hash = id; }
  async function guarded(run) { warn(""); try { await run(); } catch (error) { warn(error.message); } }

  function upload(one) {
    if (!one) return;
    if (one.size > state.limits.upload) return warn(one.name + " is larger than " + Math.round(state.limits.upload / 1e6) + " MB; use robustfourier fit for it.");
    warn("");
    const request = new XMLHttpRequest(), bar = $("uploading");
    request.open("POST", "api/files?name=" + encodeURIComponent(one.name));
    bar.hidden = false;
    request.upload.onprogress = (event) => { bar.value = event.loaded / event.total; };
    request.onloadend = () => {
      bar.hidden = true; bar.value = 0;
      let answer = {}; try { answer = JSON.parse(request.responseText); } catch (error) { /* no answer at all */ }
      if (request.status === 200) go(answer.id); else warn(answer.detail || "The file could not be handed over.");
    };
    request.send(one);
  }
  $("choose").addEventListener("change", (event) => { upload(event.target.files[0]); event.target.value = ""; });
  $("drop").addEventListener("keydown", (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); $("choose").click(); } });
  addEventListener("dragover", (event) => { event.preventDefault(); $("drop").classList.add("over"); });
  addEventListener("dragleave", (event) => { if (!event.relatedTarget) $("drop").classList.remove("over"); });
  addEventListener("drop", (event) => { event.preventDefault(); $("drop").classList.remove("over"); upload(event.dataTransfer.files[0]); });
  $("another").addEventListener("click", () => { location.hash = ""; });

  // -- the fit as it happens --------------------------------------------------------------------
  async function fit(settings) {
    await guarded(async () => { await ask("api/files/" + file.id + "/fits", settings); await refresh(); });
  }
  function open(one) {
    if (following) following.stop();
    modesKept = []; ledger = new Map(); read = null; columns = []; seen = null; preview(); reading(one);
    $("headline").textContent = file.name; $("taken").textContent = "";
    $("live").hidden = one.state === "done"; $("result").hidden = true; $("failed").hidden = true; $("shaping").hidden = true; $("compared").hidden = true;
    $("lines").replaceChildren(); $("shapes").replaceChildren(); $("counted").textContent = ""; $("doing").textContent = one.state === "queued" ? "Waiting for its turn …" : "";
    $("stages").replaceChildren(...STAGES.map(([key, words]) => el("div", { role: "listitem", "data-stage": key }, words)));
    plots = null;
    document.body.dataset.state = one.state; document.body.dataset.fit = one.id; document.body.dataset.kind = one.rhythm ? "rhythm" : "fit";
    rhythm(one);
    following = follow(one.id, (frame) => show(one, frame), () => guarded(finish.bind(null, one.id)));
  }
  function charts() {
    if (!plots) plots = { weights: RF.stems($("plot-weights"), "cycles over the record", "weight", "--c0", () => modesKept), data: null };
    return plots;
  }
  function show(one, frame) {
    const live = !$("live").hidden;
    if (frame.t === "columns") { columns = frame.columns; seen = frame; preview(); reading(one); rhythm(one); }
    else if (frame.t === "tested") $("doing").textContent = frame.done.toLocaleString() + " of " + frame.of.toLocaleString() + " series tested";
    else if (frame.t === "read") { read = frame; taken(); preview(); reading(one); if (live) dataPlot(); }
    else if (frame.t === "stage") stage(frame);
    else if (frame.t === "weights") { if (live) { charts().weights.setData([frame.mode, frame.weight, []]); $("doing").textContent = "Training the diagonal: " + (100 * frame.trained).toFixed(0) + " % of the time that the false-alarm level gives"; document.body.dataset.weights = Number(document.body.dataset.weights || 0) + 1; } }
    else if (frame.t === "lines") { if (live) lines(frame); }
    else if (frame.t === "patterns") { if (live) shapes(frame.patterns); }
    else if (frame.t === "result") answers[one.id] = frame;
    else if (frame.t === "state") { document.body.dataset.state = frame.state; if (frame.state === "failed" || frame.state === "cancelled") failed(frame); else if (frame.state === "running" && live) $("doing").textContent = "Starting …"; }
  }
  function stage(frame) {
    const key = PART_OF[frame.stage] || frame.stage, place = STAGES.findIndex(([name]) => name === key);
    [...$("stages").children].forEach((node, i) => { node.className = i < place ? "done" : i === place ? "now" : ""; });
    if (frame.stage === "sums") $("doing").textContent = frame.samples.toLocaleString() + " samples, searched up to " + frame.modes.toLocaleString() + " cycles over the record";
    else if (frame.stage !== "diagonal") $("doing").textContent = { reading: "Reading the file …", lines: "Proposing, refining and testing lines …", patterns: "Grouping lines into patterns …", "summing up": "Summing up …", drawing: "Drawing figures …", report: "Writing the report …" }[frame.stage] || "";
  }
  function taken() {
    const left = [[read.missing, "with a missing value"], [read.duplicates, "repeat a time"], [read.unsorted, "out of order"]].filter(([n]) => n).map(([n, words]) => n.toLocaleString() + " rows " + words);
    $("taken").replaceChildren(el("strong", {}, read.value), " against ", el("strong", {}, read.time), read.error ? " with errors " : "", read.error ? el("strong", {}, read.error) : "",
      ": " + read.used.toLocaleString() + " samples from " + read.first + " to " + read.last + ". " + [...left, ...read.notes].map((note) => note[0].toUpperCase() + note.slice(1) + ". ").join(""),
      el("button", { type: "button", class: "small", on: { click: () => { $("reading").open = true; $("reading").scrollIntoView({ block: "start" }); $("columns").querySelector("select").focus(); } } }, "Change how it is read"));
  }
  // The first rows of the file, and the samples that were made of them.
  function preview() {
    const table = (heads, rows) => (rows.length ? [el("table", {}, el("tr", {}, ...heads.map((head) => el("th", {}, head))), ...rows.map((row) => el("tr", {}, ...row.map((cell) => el("td", {}, cell)))))] : []);
    $("preview").replaceChildren(...(seen ? table(seen.head, seen.rows) : []));
    $("taken-rows").replaceChildren(...(read ? table([read.time, read.value, ...(read.error ? [read.error] : [])], read.taken || []) : []));
    $("taken-title").hidden = !(read && read.taken);
  }
  function dataPlot() {
    const dots = { paths: () => null, points: { show: true, size: 3, fill: () => RF.css("--dots"), stroke: () => RF.css("--dots"), width: 0 } };
    charts().data = RF.chart($("plot-data"), { scales: { x: { time: read.dates }, y: { dir: read.magnitudes ? -1 : 1 } }, axes: RF.axes(read.label, read.value, read.dates), series: [{}, dots] }, [read.x, read.y]);
  }
  function lines(frame) {
    const name = (i) => (frame.periods ? frame.periods[i] : frame.modes[i].toFixed(2));
    const near = (mode) => [...ledger.keys()].find((key) => Math.abs(key - mode) < 0.6);
    frame.modes.forEach((mode, i) => {
      let key = near(mode);
      const before = key === undefined ? null : ledger.get(key);
      if (key !== undefined) ledger.delete(key);
      const words = { proposed: "proposed", refined: "refined", dropped: frame.reason,
        tested: frame.alarm ? "chance of noise alone: " + (frame.alarm[i] < 1e-12 ? "below 10⁻¹²" : frame.alarm[i].toPrecision(2)) : "", kept: before ? before.words : "" }[frame.what];
      ledger.set(mode, { what: frame.what, name: name(i), words });
    });
    if (frame.what === "kept") {
      modesKept = frame.modes;
      for (const [key, line] of ledger) if (!["kept", "dropped"].includes(line.what)) ledger.delete(key);
      $("counted").textContent = frame.modes.length + (frame.modes.length === 1 ? " line stays" : " lines stay");
      charts().weights.redraw(false);
    }
    const rank = { proposed: 0, refined: 0, tested: 0, kept: 1, dropped: 2 };
    const sorted = [...ledger.values()].sort((a, b) => rank[a.what] - rank[b.what]).slice(0, 60);
    $("lines").replaceChildren(...sorted.map((line) => el("li", { class: line.what }, el("b", {}, line.name), el("em", {}, line.words))));
  }
  function shapes(patterns) {
    $("shaping").hidden = !patterns.length;
    $("shapes").replaceChildren(...patterns.slice(0, 8).map((one, i) => {
      const canvas = el("canvas", { role: "img", "aria-label": "Two cycles of a pattern of " + one.period });
      requestAnimationFrame(() => RF.wave(canvas, one.wave, "--c" + (i % 6)));
      return el("article", { class: "card" }, el("h3", {}, el("span", { class: "dot c" + (i % 6) }), one.period), canvas, el("p", {}, (100 * one.share).toFixed(1) + " % of the variation, harmonics " + one.harmonics.slice(0, 8).join(", ")));
    }));
  }
  function failed(frame) {
    $("live").hidden = true; $("failed").hidden = false; $("result").hidden = false; $("report").hidden = true;
    $("failed").querySelector("h2").textContent = frame.state === "failed" ? "The fit failed" : "The fit was cancelled";
    $("why").textContent = frame.words;
    controls(current());
    const many = frame.words.includes("One series of several"); // of such a file one is chosen, or all are tested
    if (many) $("rhythm").open = true;
    else if (frame.state === "failed" && !read) $("reading").open = true; // what was not read can be mended there
  }
  $("cancel").addEventListener("click", () => guarded(() => ask("api/jobs/" + current().id + "/cancel", {})));

  // -- the result -------------------------------------------------------------------------------
  async function finish(id) {
    state = await ask("api/state");
    file = state.files.find((one) => one.id === (file && file.id)) || null;
    const one = fitOf(id);
    if (!one || current().id !== id) return;
    document.body.dataset.state = one.state;
    if (one.state !== "done") return;
    $("live").hidden = true; $("failed").hidden = true; $("result").hidden = false; $("report").hidden = false;
    $("headline").textContent = file.name;
    $("report").src = "fits/" + id + "/report.html";
    controls(one); rhythm(one);
    effects(answers[id]); forecast(one, answers[id]);
    document.body.dataset.shown = id;
  }
  // The report is of this server and allows its own two scripts only: its height and colours follow ours.
  function fitted() {
    const inner = $("report").contentDocument;
    if (!inner || !inner.body) return;
    const own = inner.getElementById("theme");
    if (own) own.style.display = "none"; // one button for both pages
    if (RF.root.dataset.theme) inner.documentElement.dataset.theme = RF.root.dataset.theme; else delete inner.documentElement.dataset.theme;
    $("report").style.height = Math.max(600, inner.body.scrollHeight + 2) + "px";
  }
  $("report").addEventListener("load", () => { fitted(); new ResizeObserver(fitted).observe($("report").contentDocument.body); });
  document.addEventListener("redraw", fitted);

  function effects(found) {
    const rows = (found && found.effects) || [];
    $("effects").hidden = !rows.length;
    $("effects-table").replaceChildren(...(rows.length ? [el("table", {}, el("tr", {}, ...["Column", "For one unit", "Of the variance", "False alarm", ""].map((head) => el("th", {}, head))),
      ...rows.map((row) => el("tr", {}, el("td", {}, row.name), el("td", { class: "num" }, row.coefficient), el("td", { class: "num" }, row.share), el("td", { class: "num" }, row.alarm), el("td", {}, row.words))))] : []));
  }
  function forecast(one, found) {
    const ahead = found && found.ahead;
    $("ahead").hidden = !ahead;
    if (!ahead) return;
    const none = { stroke: "transparent", points: { show: false } };
    $("ahead-table").href = "fits/" + one.id + "/forecast.csv?save=1";
    RF.chart($("plot-ahead"), { scales: { x: { time: ahead.dates } }, axes: RF.axes(ahead.label, read ? read.value : "", ahead.dates), series: [{}, none, none, { stroke: () => RF.css("--fit"), width: 2, points: { show: false } }],
      bands: [{ series: [1, 2], fill: () => RF.css("--band") }] }, [ahead.x, ahead.upper, ahead.lower, ahead.mean]);
  }
  function describe(one, before) {
    if (one.rhythm) return one.rhythm.periods.join(", ") + " tested in every series" + (one.rhythm.group ? ", by " + one.rhythm.group : "");
    const words = [], a = one.asked, b = before ? before.asked : {}, r = one.reading, s = before ? before.reading : {};
    const names = { period: "known period", shortest_period: "shortest", longest_period: "longest", false_alarm: "false alarms", scale: "scale", loss: "outliers", without: "without", split: "split", merge: "merge", columns: "other columns", holidays: "holidays" };
    for (const [key, name] of Object.entries(names)) if (JSON.stringify(a[key]) !== JSON.stringify(b[key])) words.push(name + " " + (a[key] === undefined ? "as usual" : [].concat(a[key]).join(", ")));
    if (!!one.magnitudes !== !!(before && before.magnitudes)) words.push(one.magnitudes ? "magnitudes" : "no magnitudes");
    if (one.forecast !== (before ? before.forecast : undefined)) words.push("forecast " + (one.forecast || "no more"));
    for (const key of new Set([...Object.keys(r), ...Object.keys(s)])) if (JSON.stringify(r[key]) !== JSON.stringify(s[key])) words.push((state.controls.find((c) => c.option === key) || { words: key }).words.toLowerCase() + " " + (r[key] === undefined ? "as found" : r[key]));
    return words.join("; ") || "automatic";
  }
  function history(one) {
    $("history").replaceChildren(...file.fits.map((entry, i) => el("li", { class: entry.id === one.id ? "current" : "" },
      el("input", { type: "checkbox", "aria-label": "Compare fit " + (i + 1), disabled: entry.state !== "done" || !!entry.rhythm, checked: chosen.includes(entry.id), on: { change: (event) => { chosen = chosen.filter((c) => c !== entry.id); if (event.target.checked) chosen = [...chosen, entry.id].slice(-2); history(one); } } }),
      el("button", { type: "button", on: { click: () => look(entry) } }, (i + 1) + ". " + describe(entry, file.fits[i - 1]) + " ", entry.state === "done" ? null : el("small", { class: entry.state }, entry.state)))));
    $("undo").disabled = file.fits.findIndex((entry) => entry.id === one.id) <= 0;
    $("compare").disabled = chosen.length !== 2;
  }
  async function look(entry) {
    await guarded(async () => { await ask("api/files/" + file.id + "/show/" + entry.id, {}); await refresh(); });
  }
  $("undo").addEventListener("click", () => { const at = file.fits.findIndex((entry) => entry.id === current().id); if (at > 0) look(file.fits[at - 1]); });
  $("compare").addEventListener("click", () => guarded(compare));

  function answer(id) {
    if (answers[id]) return Promise.resolve(answers[id]);
    return new Promise((resolve) => { follow(id, (frame) => { if (frame.t === "result") answers[id] = frame; }, () => resolve(answers[id])); });
  }
  async function compare() {
    const order = chosen.map((id) => file.fits.findIndex((entry) => entry.id === id)).sort((a, b) => a - b), ids = order.map((i) => file.fits[i].id);
    const [pair, changed] = await Promise.all([Promise.all(ids.map(answer)), ask("api/compare/" + ids[0] + "/" + ids[1])]);
    const verdicts = new Map(changed.patterns.map((p) => [p.exact, p.verdict]));
    const name = (i) => "Fit " + (order[i] + 1);
    const side = (one, i) => el("article", { class: "card" }, el("h3", {}, name(i) + ": " + describe(file.fits[order[i]], file.fits[order[i] - 1])), el("p", {}, one.headline),
      el("p", {}, el("b", {}, one.explained), " repeats, noise ", el("b", {}, one.noise)),
      el("div", { class: "scroll" }, el("table", {}, el("tr", {}, ...["", "Period", "Share", "Harmonics"].map((h) => el("th", {}, h))),
        ...one.patterns.slice(0, 12).map((p) => el("tr", { class: (verdicts.get(p.exact) || "agrees") === "agrees" ? "" : "other" }, el("td", {}, p.label), el("td", {}, p.period), el("td", { class: "num" }, p.share), el("td", {}, p.harmonics.slice(0, 6).join(", ")))))));
    const canvas = el("canvas", { role: "img", "aria-label": "Share of each pattern in both fits, by its period" });
    $("compared").replaceChildren(el("article", { class: "card" }, el("h2", {}, "From fit " + (order[0] + 1) + " to fit " + (order[1] + 1)), el("p", { id: "changed" }, changed.sentence + " The patterns explain " + pair[1].explained + " instead of " + pair[0].explained + " of the variation."), canvas,
      el("p", { class: "caption" }, "Each pattern at its period: up, its share of the variation in " + name(0).toLowerCase() + "; down, in " + name(1).toLowerCase() + ". Coloured are those that changed.")), el("div", { class: "sides" }, ...pair.map(side)));
    $("compared").hidden = false;
    mirror(canvas, changed.patterns);
    $("compared").scrollIntoView({ block: "nearest" });
  }
  // Shares of both fits against the logarithm of the period, one above and one below the line.
  function mirror(canvas, patterns) {
    const ratio = devicePixelRatio || 1, width = canvas.clientWidth || 600, height = 190, middle = height / 2, ctx = canvas.getContext("2d");
    canvas.width = width * ratio; canvas.height = height * ratio; canvas.style.height = height + "px"; ctx.scale(ratio, ratio);
    const logs = patterns.map((p) => Math.log(p.exact)), low = Math.min(...logs), high = Math.max(...logs), most = Math.max(...patterns.flatMap((p) => p.shares), 1e-9);
    const x = (value) => 50 + (width - 100) * (high > low ? (value - low) / (high - low) : 0.5);
    ctx.font = "12px system-ui, sans-serif"; ctx.textAlign = "center"; ctx.strokeStyle = RF.css("--faint"); ctx.beginPath(); ctx.moveTo(10, middle); ctx.lineTo(width - 10, middle); ctx.stroke();
    patterns.forEach((p, i) => {
      const ink = RF.css({ agrees: "--faint", drifted: "--accent", new: "--floor", gone: "--alarm" }[p.verdict]);
      [-1, 1].forEach((side, j) => { const long = p.shares[j] / most * (middle - 26); if (!long) return; ctx.strokeStyle = ctx.fillStyle = ink; ctx.lineWidth = 3; ctx.beginPath(); ctx.moveTo(x(logs[i]), middle); ctx.lineTo(x(logs[i]), middle + side * long); ctx.stroke(); ctx.beginPath(); ctx.arc(x(logs[i]), middle + side * long, 4, 0, 7); ctx.fill(); });
      if (Math.max(...p.shares) > 0.03 * most) { ctx.fillStyle = RF.css("--soft"); ctx.fillText(p.period, x(logs[i]), p.shares[0] ? middle - p.shares[0] / most * (middle - 26) - 9 : middle + p.shares[1] / most * (middle - 26) + 19); }
    });
  }

  // -- controls ---------------------------------------------------------------------------------
  const UNIT = () => (read && read.unit) || (answers[current().id] || {}).unit || "";
  function controls(one) {
    const form = $("controls"), asked = one.asked, found = answers[one.id];
    history(one);
    form.period.value = (asked.period || []).join(", ");
    form.holidays.value = asked.holidays || "";
    for (const name of ["shortest_period", "longest_period"]) form[name].value = asked[name] || "";
    form.forecast.value = one.forecast || "";
    form.false_alarm.value = String(asked.false_alarm || 0.01); form.scale.value = asked.scale || "auto"; form.loss.value = asked.loss || "auto";
    for (const name of ["shortest_period", "longest_period"]) form[name].placeholder = UNIT() ? "in " + UNIT() + ", or 12h" : "a number";
    patterns(one, found);
    reading(one);
    exports(one, found);
  }
  // Every option of reading a file, from the server's list.
  function reading(one) {
    const field = (c) => {
      const given = one.reading[c.option], attributes = { name: "read-" + c.option, form: "controls" };
      if (c.kind === "column") return el("select", Object.assign(attributes, { name: "column-" + c.option }), el("option", { value: "" }, c.option === "error" ? "none" : "as found"), ...columns.map((column) => el("option", { value: column, selected: (given || (read && read[c.option])) === column }, column)));
      if (c.option === "sheet" && seen && (seen.sheets || []).length) return el("select", attributes, el("option", { value: "" }, "as found"), ...seen.sheets.map((sheet) => el("option", { value: sheet, selected: given === sheet }, sheet)));
      if (c.kind === "choice") return el("select", attributes, ...c.choices.map(([value, words]) => el("option", { value, selected: MARKS[given] === value || given === value }, words)));
      if (c.kind === "switch") return el("input", Object.assign(attributes, { type: "checkbox", checked: !!one[c.option] || !!(read && read.magnitudes) }));
      return el("input", Object.assign(attributes, { value: [].concat(given ?? []).join(", "), placeholder: (c.option === "unit" && read && read.unit) || c.hint }));
    };
    const others = columns.filter((column) => !(read && [read.time, read.value].includes(column)));
    $("controls").columns.replaceChildren(...others.map((column) => el("option", { value: column, selected: (one.asked.columns || []).includes(column) }, column)));
    $("columns").replaceChildren(el("legend", {}, "Controls"), ...state.controls.map((c) => el("label", { class: c.kind }, c.words + " ", field(c))));
  }
  const MARKS = { "\t": "tab", ",": "comma", ";": "semicolon", "|": "bar", " ": "blanks" };
  // Off closes the places of a pattern's lines, split frees its lines, merge makes two patterns one.
  let wishes = { without: [], split: [], merge: [] };
  function patterns(one, found) {
    wishes = { without: (one.asked.without || []).slice(), split: (one.asked.split || []).slice(), merge: (one.asked.merge || []).slice() };
    const before = [...(wishes.without.length ? [["closed at " + wishes.without.slice(0, 3).map((p) => (+p).toPrecision(4)).join(", ") + (wishes.without.length > 3 ? " …" : ""), "without"]] : []), ...(wishes.split.length ? [["split " + wishes.split.map((p) => (+p).toPrecision(4)).join(", "), "split"]] : []), ...(wishes.merge.length ? [["merged " + wishes.merge.join(", "), "merge"]] : [])];
    const again = () => fit(wanted(current()));
    const shown = found && found.patterns ? found.patterns.filter((p) => !p.combination).slice(0, 12) : [];
    $("patterns").replaceChildren(...[el("legend", {}, "Patterns"),
      ...shown.map((p) => el("div", { class: "pattern" }, el("input", { type: "checkbox", name: "merge", value: p.exact, "aria-label": "Choose pattern " + p.label + " to be merged" }), el("span", {}, p.label + ": " + p.period),
        el("span", { class: "acts" }, el("button", { type: "button", class: "small", title: "Fit without this pattern", "data-off": p.label, on: { click: () => { wishes.without.push(...p.lines.map(String)); again(); } } }, "Off"),
          el("button", { type: "button", class: "small", title: "Each harmonic a pattern of its own", "data-split": p.label, disabled: p.harmonics.length < 2, on: { click: () => { wishes.split.push(String(p.exact)); again(); } } }, "Split")))),
      shown.length > 1 ? el("button", { type: "button", class: "small", id: "merge", on: { click: () => { const two = [...$("patterns").querySelectorAll("[name=merge]:checked")].map((box) => box.value); if (two.length !== 2) return warn("Choose two patterns to merge."); wishes.merge.push(two.join("+")); again(); } } }, "Merge the two chosen") : null,
      ...before.map(([words, key]) => el("p", { class: "caption" }, words + " ", el("button", { type: "button", class: "small", on: { click: () => { wishes[key] = []; again(); } } }, "take back"))),
      shown.length || before.length ? null : el("p", { class: "caption" }, "None found.")].filter(Boolean));
  }
  function exports(one, found) {
    const place = "fits/" + one.id + "/", done = one.state === "done";
    const link = (name, words) => el("a", { href: place + name + (name.endsWith(".html") || name.endsWith(".zip") ? "" : "?save=1"), download: name.split("/").pop() }, words);
    const copy = (text) => el("button", { type: "button", class: "small", on: { click: (event) => { navigator.clipboard.writeText(text).then(() => { event.target.textContent = "Copied"; }); } } }, "Copy");
    if (done && one.rhythm) {
      const names = { "rhythm.csv": "Table", "differences.csv": "Differences", "rhythm.xlsx": "Excel" };
      return $("export").replaceChildren(link("report.html", "Page"), ...(found ? found.tables.map((name) => link(name, names[name] || name)) : []), link("everything.zip", "Everything, with figures"),
        ...(found ? [el("p", { class: "caption" }, "On the command line ", copy(found.command)), el("pre", { id: "command" }, found.command)] : []));
    }
    $("export").replaceChildren(...(done ? [link("report.html", "Report"), link("modes.csv", "Modes"), link("components.csv", "Patterns"), link(found?.fit_file ?? "fit.csv", "Fit"), link("model.rfm", "Model"), link("everything.zip", "Everything, with figures"),
      ...(found ? [el("p", { class: "caption" }, "On the command line ", copy(found.command)), el("pre", { id: "command" }, found.command), el("p", { class: "caption" }, "In Python ", copy(found.python)), el("pre", { id: "python" }, found.python)] : [])] : [el("p", { class: "caption" }, "After a fit.")]));
  }
  function wanted(one) {
    const form = $("controls"), settings = settingsOf(one), asked = settings.asked, reading = settings.reading;
    const put = (target, name, value, usual) => { if (value === usual || value === "" || (Array.isArray(value) && !value.length)) delete target[name]; else target[name] = value; };
    put(asked, "period", listed(form.period.value));
    put(asked, "columns", [...form.columns.selectedOptions].map((option) => option.value)); put(asked, "holidays", form.holidays.value.trim());
    for (const name of ["shortest_period", "longest_period"]) put(asked, name, form[name].value.trim());
    put(asked, "false_alarm", Number(form.false_alarm.value), 0.01); put(asked, "scale", form.scale.value, "auto"); put(asked, "loss", form.loss.value, "auto");
    for (const name of ["time", "value", "error"]) { const select = form["column-" + name]; const was = one.reading[name] || (read && read[name]) || ""; if (select && select.value !== was) put(reading, name, select.value); }
    for (const name of ["without", "split", "merge"]) put(asked, name, wishes[name]);
    put(settings, "forecast", form.forecast.value.trim());
    for (const c of state.controls) {
      const input = form["read-" + c.option];
      if (!input || c.kind === "column") continue;
      if (c.kind === "switch") { put(settings, c.option, input.checked && !(read && read.magnitudes && !one[c.option]), false); continue; }
      const text = input.value.trim();
      put(reading, c.option, c.kind === "list" ? text.split(/\s*,\s*/).filter(Boolean) : text && (c.kind === "count" || c.kind === "number") ? Number(text) : text, c.option === "missing" ? "drop" : undefined);
    }
    return settings;
  }
  // A known period tested in every series of the file, as another entry of its history.
  function rhythm(one) {
    const form = $("rhythm-form"), asked = one.rhythm || {};
    if (asked.periods) form.periods.value = asked.periods.join(", ");
    form.harmonics.value = String(asked.harmonics || 1); form.noise.value = asked.noise || "auto";
    for (const name of ["by", "group", "subject"]) form[name].replaceChildren(el("option", { value: "" }, name === "by" ? "as found" : "none"), ...columns.map((column) => el("option", { value: column, selected: asked[name] === column }, column)));
    $("taken").textContent = one.rhythm && answers[one.id] ? answers[one.id].headline : $("taken").textContent;
  }
  $("rhythm-form").addEventListener("submit", (event) => {
    event.preventDefault();
    const form = event.target, reading = wanted(current()).reading, columns = Object.fromEntries(["by", "group", "subject"].map((name) => [name, form[name].value]).filter(([, value]) => value));
    fit({ reading, asked: {}, rhythm: { periods: listed(form.periods.value), ...columns, harmonics: Number(form.harmonics.value), noise: form.noise.value } });
  });
  $("controls").addEventListener("submit", (event) => { event.preventDefault(); fit(wanted(current())); });

  if (innerWidth <= 900) document.querySelectorAll("aside .tool").forEach((tool) => { tool.open = false; });
  addEventListener("hashchange", () => guarded(refresh));
  guarded(refresh);
})();
