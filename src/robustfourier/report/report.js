(function () {
  "use strict";
  var root = document.documentElement;
  if (typeof uPlot !== "function" || !window.atob) return;
  root.classList.add("has-js");
  var data = JSON.parse(document.getElementById("payload").textContent);
  var plots = [];

  function view(text) {
    var raw = atob(text), bytes = new Uint8Array(raw.length);
    for (var i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
    return new DataView(bytes.buffer);
  }
  function floats(text, origin) {
    var from = view(text), out = new Array(from.byteLength / 4);
    for (var j = 0; j < out.length; j++) out[j] = from.getFloat32(4 * j, true) + (origin || 0);
    return out;
  }
  function steps(part) {
    var from = view(part.steps), out = new Array(from.byteLength / 2), unit = (part.high - part.low) / 65535;
    for (var j = 0; j < out.length; j++) out[j] = part.low + unit * from.getUint16(2 * j, true);
    return out;
  }
  function between(ends, count) {
    var out = new Array(count);
    for (var j = 0; j < count; j++) out[j] = ends[0] + (ends[1] - ends[0]) * j / (count - 1);
    return out;
  }
  function css(name) { return getComputedStyle(root).getPropertyValue(name).trim(); }
  function faded(colour, alpha) { return colour.slice(0, 7) + Math.round(255 * alpha).toString(16).padStart(2, "0"); }
  function digits(value, places) {
    if (value === 0) return "0";
    var size = Math.abs(value);
    if (places === undefined) return size >= 1e6 || size < 1e-4 ? value.toExponential(3) : String(+value.toPrecision(6));
    if (size >= 1e15 || (places >= 7 && size < 1e-4)) return value.toExponential(3);
    var parts = value.toFixed(places).split(".");
    if (size >= 1e4) parts[0] = parts[0].replace(/\B(?=(\d{3})+$)/g, ",");
    return parts.join(".");
  }
  function told(value) { return digits(value, data.places); }
  function period(value, precision) {
    var step = data.time.ladder.filter(function (s) { return value < s[0]; })[0];
    return step ? (String(+(value * step[1]).toPrecision(precision)) + " " + step[2]).trim() : "";
  }
  function nearest(xs, x) {
    var low = 0, high = xs.length - 1;
    while (high - low > 1) { var middle = (low + high) >> 1; if (xs[middle] < x) low = middle; else high = middle; }
    return Math.abs(xs[low] - x) <= Math.abs(xs[high] - x) ? low : high;
  }
  function moment(x) {
    if (!data.time.dates) return digits(x, data.time.places);
    var whole = Math.round(x / data.time.step) * data.time.step;  // times were sent as float32
    return new Date(Math.round(1000 * whole)).toISOString().replace("T", " ").replace(/(:00)?\.000Z$/, "").replace("Z", "");
  }

  var samples = { x: floats(data.samples.x, data.samples.origin), y: floats(data.samples.y), fit: steps(data.samples.fit) };
  samples.rest = samples.y.map(function (y, i) { return y - samples.fit[i]; });
  var curve = { y: steps(data.curve.y), std: steps(data.curve.std) };
  curve.x = between(data.curve.ends, curve.y.length);
  var band = curve.std.some(function (s) { return s > 0; });
  var spectrum = data.spectrum;
  ["x", "y", "smooth", "floor", "line"].forEach(function (key) { spectrum[key] = floats(spectrum[key]); });
  spectrum.rest = spectrum.rest.map(function (part) { return floats(part); });

  function stepped(u, at, axis, space, step) {
    var places = Math.max(0, Math.min(10, -Math.floor(Math.log10(step) + 1e-9)));
    var rest = step * Math.pow(10, places);
    if (Math.abs(rest - Math.round(rest)) > 1e-6) places += 1;
    var big = Math.max(Math.abs(at[0] || 0), Math.abs(at[at.length - 1] || 0)) >= 1e4;
    return at.map(function (v) {
      if (v === null) return "";
      if (Math.abs(v) >= 1e9 || step < 1e-9) return v.toExponential(2);
      var parts = v.toFixed(places).split(".");
      if (big) parts[0] = parts[0].replace(/\B(?=(\d{3})+$)/g, ",");
      return parts.join(".");
    });
  }
  function decades(u, at) {
    var few = Math.log10(u.scales.y.max / u.scales.y.min) < 2;
    return at.map(function (v) {
      var lead = v / Math.pow(10, Math.floor(Math.log10(v) + 1e-9));
      return (few ? [1, 2, 5] : [1]).some(function (n) { return Math.abs(lead - n) < 1e-6; }) ? v : null;
    });
  }
  var day = "\n{D} {MMM}", year = " {YYYY}", dates = [
    [31536000, "{YYYY}", null, null, null, null, null, null, 1],
    [2419200, "{MMM}", "\n{YYYY}", null, null, null, null, null, 1],
    [86400, "{D} {MMM}", "\n{YYYY}", null, null, null, null, null, 1],
    [60, "{HH}:{mm}", day + year, null, day, null, null, null, 1],
    [1, ":{ss}", day + year + " {HH}:{mm}", null, day + " {HH}:{mm}", null, "\n{HH}:{mm}", null, 1],
    [0.001, ":{ss}.{fff}", day + year + " {HH}:{mm}", null, day + " {HH}:{mm}", null, "\n{HH}:{mm}", null, 1]];
  function axes(xlabel, ylabel, time, log) {
    var base = { stroke: css("--soft"), grid: { stroke: css("--rule"), width: 1 }, ticks: { show: false },
                 font: "12px system-ui, sans-serif", labelFont: "12px system-ui, sans-serif" };
    var x = Object.assign({}, base, { label: xlabel, labelSize: 20, size: time ? 44 : 30, space: time ? 70 : 95 });
    var y = Object.assign({}, base, { label: ylabel, labelSize: 18, size: function (u, values) {
      var longest = (values || []).reduce(function (n, v) { return Math.max(n, v ? v.length : 0); }, 1);
      return 14 + 7 * longest; } });
    x.values = time ? dates : stepped;
    y.values = log ? function (u, at) { return at.map(function (v) { return v === null ? "" : digits(v); }); } : stepped;
    if (log) { y.filter = decades; y.grid = Object.assign({}, base.grid, { filter: decades }); }
    return [x, y];
  }
  function hint(host, text) {
    var box = document.createElement("div");
    box.className = "hint"; host.appendChild(box);
    return { hooks: { setCursor: [function (u) {
      var left = u.cursor.left;
      if (left == null || left < 0 || !u.data[0].length) { box.style.display = "none"; return; }
      var words = text(u.posToVal(left, "x"), u);
      if (!words) { box.style.display = "none"; return; }
      box.textContent = ""; words.forEach(function (w, i) { if (i) box.appendChild(document.createElement("br")); box.appendChild(document.createTextNode(w)); });
      box.style.display = "block";
      var x = left + u.over.offsetLeft + 14;
      if (x + box.offsetWidth > host.clientWidth) x = left + u.over.offsetLeft - box.offsetWidth - 14;
      box.style.left = Math.max(x, 0) + "px"; box.style.top = (u.root.offsetTop + u.over.offsetTop + 8) + "px";
    }] } };
  }
  function tools(host, plot, range, linked) {
    var bar = document.createElement("div"); bar.className = "tools";
    function move(zoom, shift) {
      var s = plot.scales.x, width = (s.max - s.min) * zoom, middle = (s.max + s.min) / 2 + shift * (s.max - s.min);
      width = Math.min(width, range[1] - range[0]);
      var low = Math.max(range[0], Math.min(middle - width / 2, range[1] - width));
      plot.setScale("x", { min: low, max: low + width });
    }
    [["◀", "earlier", 1, -0.4], ["+", "closer", 0.5, 0], ["−", "wider", 2, 0], ["▶", "later", 1, 0.4], ["all", "show all", 1e9, 0]].forEach(function (b) {
      var button = document.createElement("button");
      button.type = "button"; button.textContent = b[0]; button.title = b[1]; button.setAttribute("aria-label", b[1]);
      button.addEventListener("click", function () { move(b[2], b[3]); });
      bar.appendChild(button);
    });
    host.insertBefore(bar, plot.root);
  }
  var busy = false;
  function link(others) {
    return [function (u, key) {
      if (key !== "x" || busy) return;
      busy = true;
      others().forEach(function (p) { if (p !== u) p.setScale("x", { min: u.scales.x.min, max: u.scales.x.max }); });
      busy = false;
    }];
  }
  function grown(series) {
    return [function (u, key) {
      if (key !== "x" || !u.series[series]) return;
      var seen = nearest(samples.x, u.scales.x.max) - nearest(samples.x, u.scales.x.min);
      u.series[series].points.size = seen > 4000 ? 3 : seen > 800 ? 4 : seen > 200 ? 5 : 6.5;
    }];
  }
  function dots(colour, size) { return { show: true, size: size, stroke: colour, fill: colour, width: 0 }; }
  function clock(seconds) { return uPlot.tzDate(new Date(seconds * 1e3), "Etc/UTC"); }
  function place(id, height, options, values, range, text) {
    var host = document.getElementById(id);
    host.classList.add("live");
    options.width = host.clientWidth; options.height = height;
    options.cursor = { drag: { x: true, y: false }, points: { show: false }, y: false };
    options.legend = { show: false };
    options.tzDate = clock;
    options.plugins = [hint(host, text)];
    var plot = new uPlot(options, values, host);
    plot.over.addEventListener("dblclick", function () { plot.setScale("x", { min: range[0], max: range[1] }); });
    tools(host, plot, range);
    plots.push({ plot: plot, host: host, height: height });
    return plot;
  }
  function padded(low, high) { var pad = 0.01 * (high - low) || 1; return [low - pad, high + pad]; }

  function draw(view) {
    plots.forEach(function (p) { p.plot.destroy(); Array.prototype.slice.call(p.host.querySelectorAll(".tools, .hint")).forEach(function (e) { e.remove(); }); });
    plots = [];
    var phone = window.innerWidth < 620, time = data.time.dates, linked = [];
    var range = padded(samples.x[0], samples.x[samples.x.length - 1]);
    var size = samples.x.length > 4000 ? 3 : samples.x.length > 800 ? 4.5 : 6;
    var lower = curve.y.map(function (y, i) { return y - 1.645 * curve.std[i]; });
    var upper = curve.y.map(function (y, i) { return y + 1.645 * curve.std[i]; });
    var joined = uPlot.join([[curve.x, upper, lower, curve.y], [samples.x, samples.y]]);
    var fit = css("--fit"), none = { stroke: "transparent", width: 0, points: { show: false }, spanGaps: true };
    var fitPlot = place("plot-fit", phone ? 280 : 350, {
      scales: { x: { time: time, range: function (u, a, b) { return [a, b]; }, min: range[0], max: range[1] }, y: { dir: data.down ? -1 : 1 } },
      axes: axes(data.time.label, data.value, time),
      series: [{}, Object.assign({}, none), Object.assign({}, none),
        { stroke: fit, width: 1.8, points: { show: false }, spanGaps: true },
        { paths: function () { return null; }, points: dots(faded(css("--dots"), 0.8), size) }],
      bands: band ? [{ series: [1, 2], fill: css("--band") }] : [],
      hooks: { setScale: link(function () { return linked; }).concat(grown(4)) }
    }, joined, range, function (x) {
      var i = nearest(samples.x, x);
      return [moment(samples.x[i]), "value " + told(samples.y[i]), "fit " + told(samples.fit[i]), "left over " + told(samples.rest[i])];
    });
    var restPlot = place("plot-residual", phone ? 190 : 210, {
      scales: { x: { time: time, range: function (u, a, b) { return [a, b]; }, min: range[0], max: range[1] }, y: { dir: data.down ? -1 : 1 } },
      axes: axes(data.time.label, "residual", time),
      series: [{}, { paths: function () { return null; }, points: dots(faded(css("--dots"), 0.65), size) }],
      hooks: { setScale: link(function () { return linked; }).concat(grown(1)), draw: [function (u) {
        var y = Math.round(u.valToPos(0, "y", true)); u.ctx.save(); u.ctx.strokeStyle = fit; u.ctx.lineWidth = 1; u.ctx.beginPath();
        u.ctx.moveTo(u.bbox.left, y); u.ctx.lineTo(u.bbox.left + u.bbox.width, y); u.ctx.stroke(); u.ctx.restore(); }] }
    }, [samples.x, samples.rest], range, function (x) {
      var i = nearest(samples.x, x);
      return [moment(samples.x[i]), "left over " + told(samples.rest[i])];
    });
    linked.push(fitPlot, restPlot);

    var top = spectrum.x[spectrum.x.length - 1], wide = [0, top];
    var values = uPlot.join([[spectrum.x, spectrum.y], spectrum.rest, [spectrum.smooth, spectrum.floor, spectrum.line]]);
    var scales = axes(spectrum.label, "amplitude of " + data.value, false, true);
    scales.push(Object.assign({}, scales[0], { scale: "x", side: 0, label: "period", grid: { show: false },
      values: function (u, at) { return at.map(function (f) { return f > 0 ? period(1 / f, 3) : ""; }); } }));
    var most = 2.5 * spectrum.top;
    var least = spectrum.floor.reduce(function (a, b) { return Math.min(a, b); }, Infinity) * 0.25;
    if (!spectrum.floor.length) least = most * 1e-6;
    place("plot-spectrum", phone ? 320 : 380, {
      scales: { x: { time: false, range: function (u, a, b) { return [a, b]; }, min: 0, max: top }, y: { distr: 3, range: [Math.max(least, most * 1e-7) || 1e-9, most || 1] } },
      axes: scales,
      series: [{}, { stroke: faded(css("--faint"), 0.45), width: 1, points: { show: false }, spanGaps: true },
        { stroke: css("--soft"), width: 1, points: { show: false }, spanGaps: true },
        { stroke: css("--floor"), width: 2, points: { show: false }, spanGaps: true },
        { stroke: css("--alarm"), width: 1.6, dash: [6, 4], points: { show: false }, spanGaps: true }],
      hooks: { draw: [function (u) {
        var ratio = devicePixelRatio || 1, ctx = u.ctx; ctx.save(); ctx.textAlign = "center"; ctx.font = "600 " + 11 * ratio + "px system-ui, sans-serif";
        var named = [];
        ctx.beginPath(); ctx.rect(u.bbox.left, 0, u.bbox.width, u.bbox.top + u.bbox.height); ctx.clip();
        spectrum.marks.forEach(function (m) {
          if (m.f < u.scales.x.min || m.f > u.scales.x.max) return;
          var x = u.valToPos(m.f, "x", true), y = Math.max(u.valToPos(m.a, "y", true) - 5 * ratio, u.bbox.top + 18 * ratio);
          ctx.fillStyle = css("--c" + m.c); ctx.beginPath(); ctx.moveTo(x, y); ctx.lineTo(x - 4 * ratio, y - 7 * ratio); ctx.lineTo(x + 4 * ratio, y - 7 * ratio); ctx.fill();
          if (m.h === 1 || u.scales.x.max - u.scales.x.min < top / 4) {
            var name = m.h === 1 ? m.t : m.t + m.h;
            if (named.some(function (n) { return Math.abs(n[0] - x) < 12 * ratio && Math.abs(n[1] - y) < 13 * ratio; })) return;
            named.push([x, y]);
            ctx.strokeStyle = css("--paper"); ctx.lineWidth = 4 * ratio; ctx.lineJoin = "round";
            ctx.strokeText(name, x, y - 10 * ratio); ctx.fillText(name, x, y - 10 * ratio);
          }
        });
        ctx.restore(); }] }
    }, values, wide, function (x, u) {
      var words = ["frequency " + digits(x, spectrum.places)], near = null, best = 12;
      spectrum.marks.forEach(function (m) { var d = Math.abs(u.valToPos(m.f, "x") - u.valToPos(x, "x")); if (d < best) { best = d; near = m; } });
      if (near) words.push("pattern " + near.t + (near.h > 1 ? ", harmonic " + near.h : "") + ": " + near.p, "amplitude " + told(near.a));
      else if (x > 0) words.push("period " + period(1 / x, 4));
      return words;
    });
    if (view) fitPlot.setScale("x", view);
  }

  draw(data.view && { min: data.view[0], max: data.view[1] });
  document.body.setAttribute("data-drawn", String(plots.length));
  var pause;
  window.addEventListener("resize", function () {
    clearTimeout(pause);
    pause = setTimeout(function () { plots.forEach(function (p) { p.plot.setSize({ width: p.host.clientWidth, height: p.height }); }); }, 120);
  });
  var button = document.getElementById("theme");
  button.hidden = false;
  button.addEventListener("click", function () {
    var dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    draw(plots.length && { min: plots[0].plot.scales.x.min, max: plots[0].plot.scales.x.max });
  });
  if (window.matchMedia) matchMedia("(prefers-color-scheme: dark)").addEventListener("change", function () { draw(); });
})();
