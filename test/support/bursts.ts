/** Returns four hours of jobs: a burst every two minutes, twice as large in the third hour. */
export function bursts(): string {
  const rows: string[] = [];
  for (let minute = 0; minute < 240; minute += 2) {
    const size = minute >= 120 && minute < 180 ? 20 : 10;
    for (let job = 0; job < size; job++) rows.push(`${minute * 60 + job},${8 + (job % 10)}`);
    rows.push(`${minute * 60 + 50},10`);
  }
  return `arrival_s,duration_s\n${rows.join("\n")}\n`;
}
