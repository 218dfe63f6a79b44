// A game as it stands: what the server told, and the events since.
const CLOCKS = ["white_ms", "black_ms", "platform_white_ms", "platform_black_ms"];

export function readSheet(page = document) {
  return JSON.parse(page.getElementById("sheet").textContent);
}

// Takes in an event of the game. True: the sheet is current; false: only the server can tell it whole.
export function takeEvent(sheet, event) {
  const { data } = event;
  switch (event.type) {
    case "kirichess.game.ply":
      if (data.ply !== sheet.plies.length + 1) return false;
      sheet.plies.push(data);
      sheet.flag = "";
      for (const name of CLOCKS) sheet.clocks[name] = data[name] ?? sheet.clocks[name];
      sheet.clocks.at_ms = Date.parse(event.time);
      return true;
    case "kirichess.flag.provisional":
      sheet.flag = data.side;
      return true;
    case "kirichess.flag.withdrawn":
      sheet.flag = "";
      return true;
    case "kirichess.chat.sent":
    case "kirichess.anomaly":
      return true;
  }
  return false;
}

// A ply of the game, 0: its start.
export function position(sheet, ply) {
  return ply ? sheet.plies[ply - 1] : { ...sheet.start, san: "", uci: "" };
}
