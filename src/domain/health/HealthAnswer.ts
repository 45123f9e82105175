import { Schema } from "effect"

/** The service can work (spec §4, GET /health). */
export const Healthy = Schema.Struct({ status: Schema.Literal("ok"), version: Schema.String })

/**
 * 503: the process lives, but its database does not respond or it is shutting down (spec §4). The specification's
 * shape, not the error envelope.
 */
export class Unhealthy extends Schema.Error<Unhealthy>("Unhealthy")({
  status: Schema.Literal("error"),
  version: Schema.String,
  database: Schema.Literals(["unreachable", "closing"])
}, { httpApiStatus: 503 }) {
  readonly _tag = "Unhealthy"
}
