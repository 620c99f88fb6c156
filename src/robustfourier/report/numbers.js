// Numbers of a report: read from the text they were sent as, searched, and told in digits.
var numbers = (function () {
  "use strict";
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
  function doubles(text) {
    var from = view(text), out = new Array(from.byteLength / 8);
    for (var j = 0; j < out.length; j++) out[j] = from.getFloat64(8 * j, true);
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
  function digits(value, places) {
    if (value === 0) return "0";
    var size = Math.abs(value);
    if (places === undefined) return size >= 1e6 || size < 1e-4 ? value.toExponential(3) : String(+value.toPrecision(6));
    if (size >= 1e15 || (places >= 7 && size < 1e-4)) return value.toExponential(3);
    var parts = value.toFixed(places).split(".");
    if (size >= 1e4) parts[0] = parts[0].replace(/\B(?=(\d{3})+$)/g, ",");
    return parts.join(".");
  }
  function nearest(xs, x) {
    var low = 0, high = xs.length - 1;
    while (high - low > 1) { var middle = (low + high) >> 1; if (xs[middle] < x) low = middle; else high = middle; }
    return Math.abs(xs[low] - x) <= Math.abs(xs[high] - x) ? low : high;
  }
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
  return { floats: floats, doubles: doubles, steps: steps, between: between, digits: digits, nearest: nearest, stepped: stepped, decades: decades };
})();
