(function () {
  "use strict";
  var root = document.documentElement;
  if (typeof uPlot !== "function" || !window.atob) return;
  root.classList.add("has-js");
  var data = JSON.parse(document.getElementById("payload").textContent);
  var plots = [], BEFORE = data.before;  // so many times as long as the forecast is what stands before it
  var floats = numbers.floats, doubles = numbers.doubles, steps = numbers.steps, between = numbers.between;
  var digits = numbers.digits, nearest = numbers.nearest, stepped = numbers.stepped, decades = numbers.decades;

  function css(name) { return getComputedStyle(root).getPropertyValue(name).trim(); }
  function faded(colour, alpha) { return colour.slice(0, 7) + Math.round(255 * alpha).toString(16).padStart(2, "0"); }
  function rounded(value) { return digits(value, data.places); }
  function period(value, precision) {
    var step = data.time.ladder.filter(function (s) { return value < s[0]; })[0];
    return step ? (String(+(value * step[1]).toPrecision(precision)) + " " + step[2]).trim() : "";
  }
  function moment(x) {
    if (!data.time.dates) return digits(x, data.time.places).replace(/,/g, "");
    var whole = Math.round(x / data.time.step) * data.time.step;  // times were sent as float32
    return new Date(Math.round(1000 * whole)).toISOString().replace("T", " ").replace(/(:00)?\.000Z$/, "").replace("Z", "");
  }

  var samples = { x: floats(data.samples.x, data.samples.origin), y: floats(data.samples.y), fit: steps(data.samples.fit), error: floats(data.samples.error) };
  samples.rest = samples.y.map(function (y, i) { return y - samples.fit[i]; });
  var curve = { std: steps(data.curve.std), rest: steps(data.curve.rest) };
  curve.x = data.curve.x ? floats(data.curve.x, data.curve.ends[0]) : between(data.curve.ends, curve.rest.length);
  var lines = data.lines.lines.map(doubles), owner = data.lines.owner, multiplies = data.lines.log;
  var power = 0, bends = 0;  // a mode as fast as all lines together, by their power
  lines[0].forEach(function (mode, i) { var p = lines[1][i] * lines[1][i] + lines[2][i] * lines[2][i]; power += p; bends += p * mode * mode; });
  var typical = Math.sqrt(bends / power) || 0, fastest = lines[0].reduce(function (a, b) { return Math.max(a, b); }, 1);

  // The fit at any time: its sinusoids, and what else it has, which is smooth, between the points of a grid.
  function between2(ys, at) { var j = Math.min(Math.floor(at), ys.length - 2); return ys[j] + (at - j) * (ys[j + 1] - ys[j]); }
  function indexOf(x) {
    if (!data.curve.x) return (x - curve.x[0]) / (curve.x[curve.x.length - 1] - curve.x[0]) * (curve.x.length - 1);
    var low = 0, high = curve.x.length - 1;
    while (high - low > 1) { var middle = (low + high) >> 1; if (curve.x[middle] <= x) low = middle; else high = middle; }
    return low + Math.min(1, (x - curve.x[low]) / (curve.x[high] - curve.x[low]));
  }
  function fitted(x, only) {
    var at = Math.max(0, Math.min(indexOf(x), curve.x.length - 1)), theta = Math.PI * (2 * at / (curve.x.length - 1) - 1), sum = between2(curve.rest, at);
    for (var i = 0; i < owner.length; i++) if (only === undefined || owner[i] === only) sum += lines[1][i] * Math.cos(lines[0][i] * theta) + lines[2][i] * Math.sin(lines[0][i] * theta);
    return { y: multiplies ? Math.exp(sum) : sum, std: between2(curve.std, at) };
  }
  // Lowest and highest value in each column; places within are spread by the golden ratio, so that no rhythm beats with them.
  function outline(low, high, columns, count, only) {
    var edge = { x: [], low: [], high: [] }, width = (high - low) / columns;
    for (var c = 0; c < columns; c++) {
      var least = Infinity, most = -Infinity;
      for (var k = 0; k < count; k++) { var y = fitted(low + (c + (k + (c * 0.618034 + k * 0.754878) % 1) / count) * width, only).y; if (y < least) least = y; if (y > most) most = y; }
      edge.x.push(low + (c + 0.5) * width); edge.low.push(least); edge.high.push(most);
    }
    return edge;
  }
  var band = curve.std.some(function (s) { return s > 0; });
  var spectrum = data.spectrum;
  ["x", "y", "smooth", "floor", "line"].forEach(function (key) { spectrum[key] = floats(spectrum[key]); });
  spectrum.rest = spectrum.rest.map(function (part) { return floats(part); });
  spectrum.steps = spectrum.steps.map(function (part) { return [steps(part[0]), steps(part[1]).map(Math.exp)]; });
  var picked = -1, shown = { samples: true, fit: true, band: true }, step = -1;  // what is seen; step -1: all patterns taken away

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
    x.values = time ? dates : log ? stepped : function (u, at, axis, space, step) {  // an instant is one word
      return stepped(u, at, axis, space, step).map(function (words) { return words.replace(/,/g, ""); }); };
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
  function knob(words, title, action) {
    var button = document.createElement("button");
    button.type = "button"; button.textContent = words; button.title = title; button.setAttribute("aria-label", title);
    button.addEventListener("click", function () { action(button); });
    return button;
  }
  function toggle(words, on, action) {
    var button = knob(words, words, function () { action(button); });
    button.setAttribute("aria-pressed", String(on));
    return button;
  }
  function move(plot, range, zoom, shift, at) {
    var s = plot.scales.x, width = Math.min((s.max - s.min) * zoom, range[1] - range[0]), centre = at === undefined ? (s.max + s.min) / 2 : at;
    var low = centre - (centre - s.min) / (s.max - s.min) * width + shift * (s.max - s.min);
    low = Math.max(range[0], Math.min(low, range[1] - width));
    plot.setScale("x", { min: low, max: low + width });
  }
  function tools(host, plot, range, extras, name) {
    var bar = document.createElement("div"), apart = document.createElement("span"), knobs = document.createElement("span");
    bar.className = "tools scroll"; apart.className = "apart"; knobs.className = "knobs"; bar.appendChild(apart); bar.appendChild(knobs);
    (extras || []).forEach(function (part) { apart.appendChild(part); });
    [["◀", "earlier", 1, -0.4], ["+", "closer", 0.5, 0], ["−", "wider", 2, 0], ["▶", "later", 1, 0.4], ["all", "show all", 1e9, 0]].forEach(function (b) {
      var button = knobs.appendChild(knob(b[0], b[1] + ": " + name, function () { move(plot, range, b[2], b[3]); }));
      if (b[3]) button.className = "wide";  // fingers move the view on a phone
    });
    knobs.appendChild(knob("PNG", "save this view as PNG: " + name, function () { plot.ctx.canvas.toBlob(function (blob) { save(name + ".png", blob); }); }));
    knobs.appendChild(knob("SVG", "save as SVG: " + name, function () { saveFigure(host.querySelector(".static svg"), name); }));
    host.insertBefore(bar, plot.root);
  }
  function save(name, blob) {
    var link = document.createElement("a"), address = URL.createObjectURL(blob);
    link.href = address; link.download = data.file + "-" + name;
    document.body.appendChild(link); link.click(); link.remove();
    setTimeout(function () { URL.revokeObjectURL(address); }, 1000);
  }
  function saveFigure(svg, name) {
    var copy = svg.cloneNode(true), size = svg.getAttribute("viewBox").split(" "), style = document.createElementNS("http:" + "//www.w3.org/2000/svg", "style");
    copy.setAttribute("data-theme", "light"); copy.setAttribute("width", size[2]); copy.setAttribute("height", size[3]);
    style.textContent = document.getElementById("style").textContent + "svg { background: #fff; font-family: system-ui, sans-serif; }";
    copy.insertBefore(style, copy.firstChild);
    save(name + ".svg", new Blob([new XMLSerializer().serializeToString(copy)], { type: "image/svg+xml" }));
  }
  function table(name) {
    if (name !== "fit") return data.tables[name];
    var rows = samples.x.map(function (x, i) {
      return [moment(x), samples.y[i], +samples.fit[i].toPrecision(6), +samples.rest[i].toPrecision(6)].join(","); });
    return "time,value,fitted,residual\n" + rows.join("\n") + "\n";
  }
  function fingers(plot, range) {
    var down = {};
    function ends() { return Object.keys(down).map(function (k) { return down[k]; }); }
    plot.over.addEventListener("pointerdown", function (e) { if (e.pointerType === "touch") down[e.pointerId] = e.clientX; });
    ["pointerup", "pointercancel", "pointerleave"].forEach(function (n) { plot.over.addEventListener(n, function (e) { delete down[e.pointerId]; }); });
    plot.over.addEventListener("pointermove", function (e) {
      if (!(e.pointerId in down)) return;
      var before = ends(), last = down[e.pointerId];
      down[e.pointerId] = e.clientX;
      var now = ends(), box = plot.over.getBoundingClientRect();
      if (now.length === 2) {
        var wide = Math.abs(now[0] - now[1]), was = Math.abs(before[0] - before[1]);
        if (wide > 10 && was > 10) move(plot, range, was / wide, 0, plot.posToVal((now[0] + now[1]) / 2 - box.left, "x"));
      } else if (now.length === 1) move(plot, range, 1, (last - e.clientX) / box.width);
    });
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
  function whiskers(u) {
    var first = nearest(samples.x, u.scales.x.min), last = nearest(samples.x, u.scales.x.max);
    if (!samples.error.length || last - first > data.samples.whiskers) return;
    u.ctx.save(); u.ctx.strokeStyle = faded(css("--dots"), 0.6); u.ctx.lineWidth = devicePixelRatio || 1; u.ctx.beginPath();
    u.ctx.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height); u.ctx.clip(); u.ctx.beginPath();
    for (var i = first; i <= last; i++) {
      var x = u.valToPos(samples.x[i], "x", true);
      u.ctx.moveTo(x, u.valToPos(samples.y[i] - samples.error[i], "y", true));
      u.ctx.lineTo(x, u.valToPos(samples.y[i] + samples.error[i], "y", true));
    }
    u.ctx.stroke(); u.ctx.restore();
  }
  function strip(plot, range) {
    var host = document.getElementById("strip"), frame = host.querySelector(".window") || host.appendChild(document.createElement("div")), held = false;
    frame.className = "window";
    function at(e) { var box = host.getBoundingClientRect(); return range[0] + (e.clientX - box.left) / box.width * (range[1] - range[0]); }
    function go(e) { var s = plot.scales.x; move(plot, range, 1, (at(e) - (s.min + s.max) / 2) / (s.max - s.min)); }
    host.onpointerdown = function (e) { held = true; host.setPointerCapture(e.pointerId); go(e); };
    host.onpointermove = function (e) { if (held) go(e); };
    host.onpointerup = host.onpointercancel = function () { held = false; };
    return function (u, key) {
      if (key !== "x") return;
      var whole = range[1] - range[0];
      frame.style.left = 100 * (u.scales.x.min - range[0]) / whole + "%"; frame.style.width = 100 * (u.scales.x.max - u.scales.x.min) / whole + "%";
    };
  }
  function path(u, xs, ys, back) {
    u.ctx.beginPath();
    xs.forEach(function (x, i) { u.ctx.lineTo(u.valToPos(x, "x", true), u.valToPos(ys[i], "y", true)); });
    if (back) for (var i = xs.length - 1; i >= 0; i--) u.ctx.lineTo(u.valToPos(xs[i], "x", true), u.valToPos(back[i], "y", true));
  }
  function curves(u) {
    var low = Math.max(u.scales.x.min, curve.x[0]), high = Math.min(u.scales.x.max, curve.x[curve.x.length - 1]);
    if (!(high > low)) return;
    var ratio = devicePixelRatio || 1, columns = Math.max(50, Math.round(u.bbox.width / ratio * (high - low) / (u.scales.x.max - u.scales.x.min)));
    var part = (indexOf(high) - indexOf(low)) / (curve.x.length - 1), dense = typical * part / columns > 0.25;  // cycles in one column of pixels
    var wanted = Math.ceil(data.curve.cycle * fastest * part), count = Math.max(2 * columns, Math.min(wanted, 40 * columns));
    var ctx = u.ctx, colour = css("--fit");
    ctx.save(); ctx.beginPath(); ctx.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height); ctx.clip(); ctx.lineJoin = "round";
    function draw(only, colour, pale) {
      var part = owner.length ? only : undefined;
      if (dense || count > 8 * columns) {  // more than a line of pixels shows: the outline of each column
        var edge = outline(low, high, columns, Math.ceil(Math.max(count, 16 * columns) / columns), part);
        if (band && shown.band && !dense && only === undefined) {
          var reach = edge.x.map(function (x) { return 1.645 * between2(curve.std, Math.max(0, Math.min(indexOf(x), curve.x.length - 1))); });
          path(u, edge.x, edge.low.map(function (y, i) { return y - reach[i]; }), edge.high.map(function (y, i) { return y + reach[i]; }));
          ctx.fillStyle = css("--band"); ctx.fill();
        }
        path(u, edge.x, edge.low, edge.high); ctx.fillStyle = faded(colour, pale ? 0.15 : dense ? 0.32 : 0.8); ctx.fill();
        if (!dense) { ctx.strokeStyle = ctx.fillStyle; ctx.lineWidth = ratio; ctx.stroke(); }
        return;
      }
      var xs = between([low, high], count + 1);
      var points = xs.map(function (x) { return fitted(x, part); }), ys = points.map(function (p) { return p.y; });
      if (band && shown.band && only === undefined) {
        path(u, xs, points.map(function (p) { return p.y - 1.645 * p.std; }), points.map(function (p) { return p.y + 1.645 * p.std; }));
        ctx.fillStyle = css("--band"); ctx.fill();
      }
      path(u, xs, ys); ctx.strokeStyle = faded(colour, pale ? 0.35 : 1); ctx.lineWidth = (only === undefined ? 1.8 : 2.4) * ratio; ctx.stroke();
    }
    if (shown.fit) draw(undefined, colour, picked >= 0);
    if (picked >= 0 && owner.length) draw(picked, css("--c" + picked % 6), false);
    ctx.restore();
  }
  function inside(limits) {  // outliers do not set the axis
    return function (u, low, high) {
      var pad = 0.04 * (limits[1] - limits[0]), a = Math.max(low === null ? limits[0] : low - pad, limits[0]), b = Math.min(high === null ? limits[1] : high + pad, limits[1]);
      return a < b ? [a, b] : limits;
    };
  }
  function outside(series) {  // … and are marked at its edge
    return function (u) {
      var ratio = devicePixelRatio || 1, ys = u.data[series], up = data.down ? -1 : 1;
      if (u.series[series].show === false) return;
      u.ctx.save(); u.ctx.fillStyle = css("--alarm");
      u.data[0].forEach(function (x, i) {
        if (ys[i] == null || x < u.scales.x.min || x > u.scales.x.max || (ys[i] >= u.scales.y.min && ys[i] <= u.scales.y.max)) return;
        var at = u.valToPos(x, "x", true), top = (ys[i] > u.scales.y.max) === (up > 0), y = top ? u.bbox.top : u.bbox.top + u.bbox.height, sign = top ? 1 : -1;
        u.ctx.beginPath(); u.ctx.moveTo(at, y); u.ctx.lineTo(at - 4 * ratio, y + sign * 7 * ratio); u.ctx.lineTo(at + 4 * ratio, y + sign * 7 * ratio); u.ctx.fill();
      });
      u.ctx.restore();
    };
  }
  function dots(colour, size) { return { show: true, size: size, stroke: colour, fill: colour, width: 0 }; }
  function clock(seconds) { return uPlot.tzDate(new Date(seconds * 1e3), "Etc/UTC"); }
  function place(id, height, options, values, range, text, extras, name) {
    var host = document.getElementById(id);
    host.classList.add("live");
    options.width = host.clientWidth; options.height = height;
    options.cursor = { drag: { x: true, y: false }, points: { show: false }, y: false };
    options.legend = { show: false };
    options.tzDate = clock;
    options.plugins = [hint(host, text)];
    var plot = new uPlot(options, values, host);
    plot.over.addEventListener("dblclick", function () { plot.setScale("x", { min: range[0], max: range[1] }); });
    fingers(plot, range);
    tools(host, plot, range, extras, name);
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
    var every = Math.ceil(curve.x.length * (owner.length + 1) / 1e6);  // the scale follows the fit, at a cost that cannot be felt
    var rough = curve.x.filter(function (_, i) { return i % every === 0; }), ends = rough.map(function (x) { return fitted(x); });
    var joined = uPlot.join([[rough, ends.map(function (p) { return p.y + 1.645 * p.std; }), ends.map(function (p) { return p.y - 1.645 * p.std; })], [samples.x, samples.y]]);
    var fit = css("--fit"), none = { stroke: "transparent", width: 0, points: { show: false }, paths: function () { return null; } };
    var fitPlot = place("plot-fit", phone ? 280 : 350, {
      scales: { x: { time: time, range: function (u, a, b) { return [a, b]; }, min: range[0], max: range[1] }, y: { dir: data.down ? -1 : 1, range: inside(data.curve.limits) } },
      axes: axes(data.time.label, data.value, time),
      series: [{}, Object.assign({}, none), Object.assign({}, none),
        { show: shown.samples, paths: function () { return null; }, points: dots(faded(css("--dots"), 0.8), size) }],
      hooks: { setScale: link(function () { return linked; }).concat(grown(3)), draw: [whiskers, curves, outside(3)] }
    }, joined, range, function (x) {
      var i = nearest(samples.x, x);
      return [moment(samples.x[i]), "value " + rounded(samples.y[i]) + (samples.error.length ? " ± " + rounded(samples.error[i]) : ""), "fit " + rounded(samples.fit[i]), "residual " + rounded(samples.rest[i])];
    }, ["samples", "fit"].concat(band ? ["band"] : []).map(function (key) {
      return toggle(key, shown[key], function (button) {
        shown[key] = !shown[key]; button.setAttribute("aria-pressed", String(shown[key]));
        if (key === "samples") fitPlot.setSeries(3, { show: shown.samples }); else fitPlot.redraw();
      });
    }), "data-and-fit");
    var frame = strip(fitPlot, range);
    fitPlot.hooks.setScale.push(frame); frame(fitPlot, "x");
    var restPlot = place("plot-residual", phone ? 190 : 210, {
      scales: { x: { time: time, range: function (u, a, b) { return [a, b]; }, min: range[0], max: range[1] }, y: { dir: data.down ? -1 : 1, range: inside(data.curve.residuals) } },
      axes: axes(data.time.label, "residual", time),
      series: [{}, { paths: function () { return null; }, points: dots(faded(css("--dots"), 0.65), size) }],
      hooks: { setScale: link(function () { return linked; }).concat(grown(1)), draw: [function (u) {
        var y = Math.round(u.valToPos(0, "y", true)); u.ctx.save(); u.ctx.strokeStyle = fit; u.ctx.lineWidth = 1; u.ctx.beginPath();
        u.ctx.moveTo(u.bbox.left, y); u.ctx.lineTo(u.bbox.left + u.bbox.width, y); u.ctx.stroke(); u.ctx.restore(); }, outside(1)] }
    }, [samples.x, samples.rest], range, function (x) {
      var i = nearest(samples.x, x);
      return [moment(samples.x[i]), "residual " + rounded(samples.rest[i])];
    }, [], "residuals");
    linked.push(fitPlot, restPlot);

    var top = spectrum.x[spectrum.x.length - 1], wide = [0, top];
    function values() { return uPlot.join([[spectrum.x, spectrum.y], step < 0 ? spectrum.rest : spectrum.steps[step], [spectrum.smooth, spectrum.floor, spectrum.line]]); }
    var names = spectrum.steps.map(function (_, i) { return "without " + data.patterns.slice(0, i + 1).join(", "); });
    var choices = (names.length ? names.concat(["residuals"]) : []).map(function (words, i) {
      var mine = i === names.length ? -1 : i;
      return toggle(words, step === mine, function (button) {
        step = mine; spectrumPlot.setData(values(), false); spectrumPlot.redraw();
        choices.forEach(function (b) { b.setAttribute("aria-pressed", String(b === button)); });
      });
    });
    var scales = axes(spectrum.label, "amplitude of " + data.value, false, true);
    scales.push(Object.assign({}, scales[0], { scale: "x", side: 0, label: "period", grid: { show: false },
      values: function (u, at) { return at.map(function (f) { return f > 0 ? period(1 / f, 3) : ""; }); } }));
    var most = 2.5 * spectrum.top;
    var least = spectrum.floor.reduce(function (a, b) { return Math.min(a, b); }, Infinity) * 0.25;
    if (!spectrum.floor.length) least = most * 1e-6;
    var spectrumPlot = place("plot-spectrum", phone ? 320 : 380, {
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
          ctx.globalAlpha = picked >= 0 && m.o !== picked ? 0.25 : 1;
          ctx.fillStyle = css("--c" + m.o % 6); ctx.beginPath(); ctx.moveTo(x, y); ctx.lineTo(x - 4 * ratio, y - 7 * ratio); ctx.lineTo(x + 4 * ratio, y - 7 * ratio); ctx.fill();
          if (m.h === 1 || m.h > 1 && u.scales.x.max - u.scales.x.min < top / 4) {
            var name = m.h === 1 ? m.t : m.t + m.h;
            if (named.some(function (n) { return Math.abs(n[0] - x) < 12 * ratio && Math.abs(n[1] - y) < 13 * ratio; })) return;
            named.push([x, y]);
            var half = ctx.measureText(name).width / 2 + 2 * ratio, at = Math.min(Math.max(x, u.bbox.left + half), u.bbox.left + u.bbox.width - half);
            ctx.strokeStyle = css("--paper"); ctx.lineWidth = 4 * ratio; ctx.lineJoin = "round";
            ctx.strokeText(name, at, y - 10 * ratio); ctx.fillText(name, at, y - 10 * ratio);
          }
        });
        ctx.restore(); }] }
    }, values(), wide, function (x, u) {
      var words = ["frequency " + digits(x, spectrum.places)], near = null, best = 12;
      spectrum.marks.forEach(function (m) { var d = Math.abs(u.valToPos(m.f, "x") - u.valToPos(x, "x")); if (d < best) { best = d; near = m; } });
      if (near) words.push("pattern " + near.t + (near.h > 1 ? ", harmonic " + near.h : near.h ? "" : ", side line") + ": " + near.p, "amplitude " + rounded(near.a));
      else if (x > 0) words.push("period " + period(1 / x, 4));
      return words;
    }, choices, "spectrum");
    data.charts.forEach(function (one) { overTime(one, phone ? 220 : 230); });
    if (view) fitPlot.setScale("x", view);
  }

  // A curve with its interval against time; that of the values comes after the samples.
  function overTime(one, height) {
    var x = floats(one.x, one.origin), parts = one.curves.map(steps), first = one.name ? x[0] : x[0] - BEFORE * (x[x.length - 1] - x[0]);
    var start = nearest(samples.x, first), before = one.name ? [[], []] : [samples.x.slice(start), samples.y.slice(start)];
    var range = padded(first, x[x.length - 1]), hidden = { stroke: "transparent", width: 0, points: { show: false }, spanGaps: true };
    place("plot-" + one.key, height, {
      scales: { x: { time: data.time.dates, range: function (u, a, b) { return [a, b]; }, min: range[0], max: range[1] }, y: { dir: data.down && !one.name ? -1 : 1, range: inside(one.limits) } },
      axes: axes(data.time.label, one.name || data.value, data.time.dates), bands: [{ series: [3, 2], fill: css("--band") }],
      series: [{}, { stroke: css("--fit"), width: 1.8, points: { show: false }, spanGaps: true }, hidden, Object.assign({}, hidden),
        { paths: function () { return null; }, points: dots(faded(css("--dots"), 0.8), 4.5) }],
      hooks: { draw: [outside(4)] }
    }, uPlot.join([[x].concat(parts), before]), range, function (at) {
      var i = nearest(x, at);
      return at < x[0] ? [moment(at)] : [moment(x[i]), (one.name || data.value) + " " + rounded(parts[0][i]), "from " + rounded(parts[1][i]) + " to " + rounded(parts[2][i])];
    }, [], one.key);
  }

  window.robustfourier = { fitted: fitted, outline: outline, pick: pick };  // for those who look closer
  function pick(index) {
    picked = index === picked ? -1 : index;
    root.classList.toggle("has-pick", picked >= 0);
    document.querySelectorAll("[data-pattern]").forEach(function (e) {
      var mine = Number(e.dataset.pattern) === picked;
      e.classList.toggle("picked", mine);
      if (e.classList.contains("pick")) e.setAttribute("aria-pressed", String(mine));
    });
    plots.forEach(function (p) { p.plot.redraw(); });
  }
  document.querySelectorAll(".pick").forEach(function (b) { b.addEventListener("click", function () { pick(Number(b.dataset.pattern)); }); });
  document.querySelectorAll(".card[data-pattern], tr[data-pattern]").forEach(function (e) {
    e.addEventListener("click", function (event) { if (!event.target.closest("button, a, summary")) pick(Number(e.dataset.pattern)); });
  });
  document.querySelectorAll("[data-table]").forEach(function (b) {
    b.addEventListener("click", function () { save(b.dataset.table + ".csv", new Blob([table(b.dataset.table)], { type: "text/csv" })); });
  });
  document.querySelectorAll(".card").forEach(function (card) {
    card.querySelectorAll("svg.figure[role]").forEach(function (svg) {
      var name = svg.getAttribute("aria-label"), button = knob("SVG", "save as SVG: " + name, function () { saveFigure(svg, name.toLowerCase().replace(/ /g, "-")); });
      button.className = "get"; svg.parentNode.insertBefore(button, svg.nextSibling);
    });
  });

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
