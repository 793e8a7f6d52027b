import { ANSWERED, Config, CONTINUE, EMPTY, READY, Request, Response, Text, text, TextBuilder } from "@gw/plugin-sdk/assembly";
import { parseAddress } from "./address";
import { Ranges } from "./ranges";

const TYPE = text("ip-restricted");
const TITLE = text("Forbidden");
const MEMBERS_START = text('{"client_ip":"');
const MEMBERS_END = text('"}');
const PERCENT: u8 = 0x25;
/** Bytes of the longest range: IPv6 that ends in IPv4, with its prefix length. */
const ROOM_FOR_ONE: i32 = 64;

let allow: Ranges = new Ranges(0);
let deny: Ranges = new Ranges(0);
let message: Text = EMPTY;
let status: i32 = 403;

export function init(): i32 {
  message = Config.get("/message");
  status = <i32>Config.number("/status");
  const allowed = readRanges("/allow");
  const denied = readRanges("/deny");
  if (!allowed || !denied) return 1;
  allow = allowed;
  deny = denied;
  return READY;
}

export function on_request(): i32 {
  if (allow.isEmpty && deny.isEmpty) return CONTINUE;
  const client = Request.clientIp();
  // The zone of a link-local address names an interface of this machine: it says nothing of the client.
  const zone = client.indexOf(PERCENT);
  const known = parseAddress(client.ptr, zone < 0 ? client.length : zone);
  // Of a client without an address nobody knows that it is not denied.
  if (known && !deny.has() && (allow.isEmpty || allow.has())) return CONTINUE;
  const members = new TextBuilder(96).add(MEMBERS_START).json(client).add(MEMBERS_END).take();
  Response.problem(status, TYPE, TITLE, message, members);
  return ANSWERED;
}

/** Null, and the config refused, where an entry is neither an address nor a range. */
function readRanges(list: string): Ranges | null {
  const count = Config.count(list);
  const ranges = new Ranges(count);
  const prefix = text(list + "/");
  const pointer = new TextBuilder(32);
  const room = heap.alloc(ROOM_FOR_ONE);
  for (let i = 0; i < count; i++) {
    const place = pointer.clear().add(prefix).integer(i).take();
    const entry = Config.read(place, room, ROOM_FOR_ONE);
    if (!entry || !ranges.add(entry)) {
      Config.refuse(list.slice(1) + "/" + i.toString() + " is neither an IP address nor a CIDR range such as 10.0.0.0/8");
      return null;
    }
    // The last that was taken can be given back: what is left over would be put back before every call.
    heap.free(changetype<usize>(entry));
    heap.free(changetype<usize>(place));
  }
  ranges.sort();
  return ranges;
}
