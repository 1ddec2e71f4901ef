import fc from "fast-check";
import { JobQueue, type Waiting } from "../../../emulator/jobs/jobQueue";
import type { Place } from "../../../emulator/jobs/lane";

type Numbered = Waiting & { readonly id: string };

const command = fc.oneof(
  fc.record({ type: fc.constant("push" as const), lowPriority: fc.boolean() }),
  fc.record({ type: fc.constant("shift" as const) }),
  fc.record({ type: fc.constant("remove" as const), id: fc.nat(30).map(String) }),
);

test("the queue behaves like a plain list under any sequence of additions, takes and removals", () => {
  fc.assert(
    fc.property(fc.array(command, { maxLength: 60 }), (commands) => {
      const queue = new JobQueue<Numbered>();
      const places = new Map<string, Place<Numbered>>();
      let list: Numbered[] = [];
      commands.forEach((step, index) => {
        if (step.type === "push") {
          const job = { id: String(index), queuedAt: index, lowPriority: step.lowPriority };
          places.set(job.id, queue.push(job));
          list.push(job);
        } else if (step.type === "shift") expect(queue.shift()).toEqual(list.shift());
        else {
          const isWaiting = list.some(({ id }) => id === step.id);
          if (isWaiting) queue.remove(places.get(step.id) as Place<Numbered>);
          list = list.filter(({ id }) => id !== step.id);
        }
        const normal = list.filter(({ lowPriority }) => !lowPriority);
        expect([queue.size, queue.normalSize]).toEqual([list.length, normal.length]);
        expect([...queue.normal()]).toEqual(normal);
      });
    }),
  );
});
