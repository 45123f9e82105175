import { Schema } from "effect"

/** The service can work (spec §4, GET /health). */
export const Healthy = Schema.Struct({ status: Schema.Literal("ok"), version: Schema.String })

/** 503: the process lives, its database does not answer or it was told to stop (spec §4). Not the error envelope: the specification's own shape. */
export class Unhealthy extends Schema.Error<Unhealthy>("Unhealthy")({
  status: Schema.Literal("error"),
  version: Schema.String,
  database: Schema.Literals(["unreachable", "closing"])
}, { httpApiStatus: 503 }) {
  readonly _tag = "Unhealthy"
}
