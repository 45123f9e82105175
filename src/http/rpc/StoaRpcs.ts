import { Rpc } from "effect/rpc"
import { CartsRpc } from "./CartsRpc.ts"
import { CatalogRpc } from "./CatalogRpc.ts"
import { CustomersRpc } from "./CustomersRpc.ts"
import { EventsRpc } from "./EventsRpc.ts"
import { InventoryRpc } from "./InventoryRpc.ts"
import { JobsRpc } from "./JobsRpc.ts"
import { OrdersRpc } from "./OrdersRpc.ts"

/** Every call that `/rpc` answers (docs/rpc.md). A schema that refuses what was sent names all of it and not the first. */
export const StoaRpcs = CatalogRpc.merge(CartsRpc, OrdersRpc, InventoryRpc, JobsRpc, CustomersRpc, EventsRpc)
  .annotateRpcs(Rpc.ParseOptions, { errors: "all" })
