// Both clocks and the gap, ply by ply, with captures, checks and guarded moves marked (uPlot).
import { clockText } from "./words.js";

export class Chart {
  constructor(element, select) {
    this.element = element;
    this.select = select;
    this.selected = 0;
    this.plies = [];
    new ResizeObserver(() => this.resize()).observe(element);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
  }

  show(start, plies) {
    this.plies = plies.filter((ply) => ply.counted !== false);
    const points = [start, ...this.plies];
    const white = points.map((each) => toSeconds(each.white_ms));
    const black = points.map((each) => toSeconds(each.black_ms));
    const gap = points.map((_, i) => (white[i] === null || black[i] === null ? null : white[i] - black[i]));
    this.data = [points.map((_, i) => i), white, black, gap];
    if (this.plot) this.plot.setData(this.data);
    else this.draw();
  }

  mark(ply) {
    this.selected = ply;
    this.plot?.redraw(false);
  }

  resize() {
    const width = this.element.clientWidth;
    const height = this.element.clientHeight;
    if (this.plot && width && (width !== this.plot.width || height !== this.plot.height)) this.plot.setSize({ width, height });
  }

  draw() {
    this.plot?.destroy();
    this.plot = new uPlot(this.options(), this.data, this.element);
    this.plot.over.addEventListener("click", () => {
      if (this.plot.cursor.idx !== null) this.select(this.plot.cursor.idx);
    });
  }

  options() {
    const color = colors();
    const axis = { stroke: color.faint, grid: { stroke: color.line, width: 1 }, ticks: { show: false }, font: "12px system-ui" };
    const clock = (values) => values.map((value) => (value === null ? "" : shortClock(value)));
    return {
      width: this.element.clientWidth || 600,
      height: this.element.clientHeight || 260,
      legend: { show: false },
      cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
      scales: { x: { time: false, range: (_, min, max) => [min, Math.max(max, min + 10)] } },
      axes: [
        { ...axis, grid: { show: false }, incrs: [2, 10, 20, 50, 100] },
        { ...axis, size: 52, values: (_, values) => clock(values), incrs: [5, 10, 15, 30, 60, 120, 300, 600, 1200] },
      ],
      series: [
        {},
        { stroke: color.white, width: 2, points: { show: false } },
        { stroke: color.black, width: 2, points: { show: false } },
        { stroke: color.gap, width: 1, dash: [4, 3], fill: color.gapFill, fillTo: () => 0, points: { show: false } },
      ],
      hooks: { draw: [(plot) => this.decorate(plot, color)] },
    };
  }

  decorate(plot, color) {
    const { ctx } = plot;
    const scale = devicePixelRatio;
    const x = (ply) => plot.valToPos(ply, "x", true);
    ctx.save();
    ctx.strokeStyle = color.faint;
    ctx.lineWidth = scale;
    level(ctx, plot, plot.valToPos(0, "y", true));
    ctx.strokeStyle = color.accent;
    if (this.selected < this.data[0].length) upright(ctx, plot, x(this.selected));
    for (const ply of this.plies) {
      const value = toSeconds(ply[`${ply.side}_ms`]);
      if (value === null) continue;
      ctx.strokeStyle = ctx.fillStyle = color[ply.side];
      mark(ctx, ply, x(ply.ply), plot.valToPos(value, "y", true), 3.5 * scale);
    }
    ctx.restore();
  }
}

function mark(ctx, ply, x, y, r) {
  ctx.beginPath();
  if (ply.guarded) {
    ctx.rect(x - r, y - r, 2 * r, 2 * r);
    ctx.stroke();
    return;
  }
  if (ply.capture) {
    ctx.arc(x, y, r, 0, 7);
    ctx.fill();
  }
  if (ply.chip_ms || /[+#]$/.test(ply.san)) {
    ctx.beginPath();
    ctx.moveTo(x, y - 3.4 * r);
    ctx.lineTo(x - r, y - 1.8 * r);
    ctx.lineTo(x + r, y - 1.8 * r);
    ctx.fill();
  }
}

function level(ctx, plot, y) {
  stroke(ctx, plot.bbox.left, y, plot.bbox.left + plot.bbox.width, y);
}

function upright(ctx, plot, x) {
  stroke(ctx, x, plot.bbox.top, x, plot.bbox.top + plot.bbox.height);
}

function stroke(ctx, ...ends) {
  ctx.beginPath();
  ctx.moveTo(ends[0], ends[1]);
  ctx.lineTo(ends[2], ends[3]);
  ctx.stroke();
}

function toSeconds(ms) {
  return typeof ms === "number" ? ms / 1000 : null;
}

function shortClock(seconds) {
  const text = clockText(Math.round(Math.abs(seconds)) * 1000).replace(/[.,]0$/, "");
  return `${seconds < 0 ? "−" : ""}${text}`;
}

function colors() {
  const style = getComputedStyle(document.documentElement);
  const names = { white: "--series-white", black: "--series-black", gap: "--series-gap", gapFill: "--gap-fill", faint: "--faint", line: "--line", accent: "--accent" };
  return Object.fromEntries(Object.entries(names).map(([name, variable]) => [name, style.getPropertyValue(variable).trim()]));
}
