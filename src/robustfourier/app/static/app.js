// Shared by both pages: asking the server, following a job, building elements, drawing.
"use strict";
const RF = (() => {
  const root = document.documentElement;
  const css = (name) => getComputedStyle(root).getPropertyValue(name).trim();
  const $ = (id) => document.getElementById(id);

  // Text from files only ever enters the page as text.
  function el(tag, attributes, ...children) {
    const node = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes || {})) {
      if (key === "on") for (const [name, run] of Object.entries(value)) node.addEventListener(name, run);
      else if (value === true) node.setAttribute(key, "");
      else if (value !== false && value != null) node.setAttribute(key, value);
    }
    for (const child of children.flat()) if (child != null) node.append(child);
    return node;
  }

  function warn(words) { const banner = $("banner"); banner.textContent = words; banner.hidden = !words; }

  async function ask(path, body, method) {
    let answer;
    try { answer = await fetch(path, { method: method || (body === undefined ? "GET" : "POST"), body: body === undefined || body instanceof Blob ? body : JSON.stringify(body) }); }
    catch (error) { throw new Error("The server does not answer. Start it again with: robustfourier app"); }
    const content = await answer.json().catch(() => ({}));
    if (!answer.ok) throw new Error(content.detail || (answer.status === 403 ? "Open the address that the command printed." : "The server answered " + answer.status + "."));
    return content;
  }

  // Frames of a job from the first one on; a hidden tab lets others have its connection.
  function follow(job, show, ended) {
    let source = null, seen = 0, over = false;
    function open() {
      if (over || source || document.hidden) return;
      source = new EventSource("api/jobs/" + encodeURIComponent(job) + "/events?after=" + seen);
      source.onmessage = (message) => { seen = Number(message.lastEventId); warn(""); show(JSON.parse(message.data)); };
      source.addEventListener("end", () => { over = true; close(); if (ended) ended(); });
      source.onerror = () => { if (source && source.readyState === EventSource.CLOSED) { close(); again(); } };
    }
    function close() { if (source) source.close(); source = null; }
    function again() {
      fetch("api/state").then((a) => { if (a.ok) setTimeout(open, 400); else warn("The server was started anew. Open the address that it printed."); })
        .catch(() => { warn("The server does not answer; trying again …"); setTimeout(again, 1500); });
    }
    function visible() { if (document.hidden) close(); else open(); }
    document.addEventListener("visibilitychange", visible);
    open();
    return { stop() { over = true; close(); document.removeEventListener("visibilitychange", visible); } };
  }

  const charts = [];
  function axes(xlabel, ylabel, time) {
    const base = () => ({ stroke: () => css("--soft"), grid: { stroke: () => css("--rule"), width: 1 }, ticks: { show: false }, font: "12px system-ui, sans-serif", labelFont: "12px system-ui, sans-serif" });
    const x = Object.assign(base(), { label: xlabel, labelSize: 20, size: time ? 44 : 30 });
    const y = Object.assign(base(), { label: ylabel, labelSize: 18, size: (u, v) => 14 + 7 * (v || []).reduce((n, s) => Math.max(n, s ? s.length : 0), 1) });
    return [x, y];
  }
  function chart(host, options, data) {
    host.textContent = "";
    const size = () => ({ width: host.clientWidth || 300, height: host.clientHeight || 220 });
    const plot = new uPlot(Object.assign({ legend: { show: false }, cursor: { y: false, points: { show: false } }, tzDate: (s) => uPlot.tzDate(new Date(s * 1e3), "Etc/UTC") }, size(), options), data, host);
    charts.push({ plot, host, size });
    return plot;
  }
  // Stems from zero: the weights of a diagonal.
  function stems(host, xlabel, ylabel, colour, marks, chosen) {
    const draw = (u) => {
      const ctx = u.ctx, ratio = devicePixelRatio || 1, zero = u.valToPos(0, "y", true), [xs, ys, said] = u.data;
      ctx.save(); ctx.beginPath(); ctx.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height); ctx.clip();
      const top = ys.reduce((a, b) => Math.max(a, b || 0), 0), picked = chosen && new Set(chosen());
      // What stands out is drawn strong, the rest pale.
      const strong = xs.map((x, i) => (picked ? picked.has(x) : ys[i] >= 0.35 * top));
      [[false, 0.5, picked ? colour : "--faint", 1], [true, 1, colour, 2]].forEach(([which, alpha, ink, width]) => {
        ctx.strokeStyle = css(ink); ctx.lineWidth = width * ratio; ctx.globalAlpha = alpha; ctx.beginPath();
        xs.forEach((x, i) => { if (ys[i] == null || strong[i] !== which) return; const px = u.valToPos(x, "x", true); ctx.moveTo(px, zero); ctx.lineTo(px, u.valToPos(ys[i], "y", true)); });
        ctx.stroke();
      });
      ctx.globalAlpha = 1; ctx.fillStyle = css(colour);
      xs.forEach((x, i) => { if (!strong[i] || !(ys[i] > 0)) return; ctx.beginPath(); ctx.arc(u.valToPos(x, "x", true), u.valToPos(ys[i], "y", true), 3 * ratio, 0, 7); ctx.fill(); });
      if (said) { ctx.strokeStyle = css("--floor"); ctx.lineWidth = 2 * ratio; xs.forEach((x, i) => { if (!(said[i] > 0.02 * top)) return; ctx.beginPath(); ctx.arc(u.valToPos(x, "x", true), u.valToPos(said[i], "y", true), 6 * ratio, 0, 7); ctx.stroke(); }); }
      (marks ? marks() : []).forEach((m) => { const px = u.valToPos(m, "x", true), y = u.bbox.top + 2 * ratio; ctx.fillStyle = css("--alarm"); ctx.beginPath(); ctx.moveTo(px, y + 8 * ratio); ctx.lineTo(px - 5 * ratio, y); ctx.lineTo(px + 5 * ratio, y); ctx.fill(); });
      ctx.restore();
    };
    const none = { paths: () => null, points: { show: false } };
    return chart(host, { scales: { x: { time: false }, y: { range: (u, low, high) => [0, Math.max(high, 1e-9) * 1.08] } }, axes: axes(xlabel, ylabel), series: [{}, none, none], hooks: { draw: [draw] } }, [[], [], []]);
  }
  function wave(canvas, values, colour) {
    const ratio = devicePixelRatio || 1, width = canvas.clientWidth || 260, height = canvas.clientHeight || 110;
    canvas.width = width * ratio; canvas.height = height * ratio;
    const ctx = canvas.getContext("2d"), low = Math.min(...values), high = Math.max(...values), room = high - low || 1;
    ctx.scale(ratio, ratio); ctx.strokeStyle = css(colour); ctx.lineWidth = 2.2; ctx.lineJoin = "round"; ctx.beginPath();
    for (let turn = 0; turn < 2; turn++) values.forEach((v, i) => { const x = (turn + i / (values.length - 1)) / 2 * width, y = height - 8 - (v - low) / room * (height - 16); if (turn || i) ctx.lineTo(x, y); else ctx.moveTo(x, y); });
    ctx.stroke();
  }
  function redraw() { charts.forEach((c) => c.plot.redraw(false)); document.dispatchEvent(new Event("redraw")); }
  addEventListener("resize", () => charts.forEach((c) => { if (c.host.clientWidth) c.plot.setSize(c.size()); }));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  const kept = (() => { try { return localStorage.getItem("theme"); } catch (e) { return null; } })();
  if (kept === "dark" || kept === "light") root.dataset.theme = kept;
  const dark = () => (root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches);
  $("theme").addEventListener("click", () => { root.dataset.theme = dark() ? "light" : "dark"; try { localStorage.setItem("theme", root.dataset.theme); } catch (e) { /* private windows */ } redraw(); });

  return { $, el, ask, follow, warn, axes, chart, stems, wave, css, dark, root };
})();
