//! Judging one statement on a connection: the text, the authorizer and EXPLAIN find what it asks,
//! the [`Ruleset`](crate::ruleset::Ruleset) decides, and what is allowed is stepped under watch.

mod advice;
pub mod agreement;
mod attribute;
mod check;
mod connect;
mod door;
mod examine;
mod explain;
mod first_pass;
mod full_way;
mod judging;
mod live;
mod memo;
mod mentions;
mod near;
mod prepared;
mod ready;
mod scopes;
mod script;
mod text;

pub use check::{Checked, Checker};
pub use door::{Door, Guard, GuardError};
pub use examine::{Examined, Seen, Way};
pub use explain::{Decided, Explained, Explanation, Judgement};
pub use first_pass::Why;
pub use judging::{Judged, Judging, Piece};
pub use memo::ShapeId;
pub use mentions::Closed;
pub(crate) use near::{near, world};
pub use prepared::{Prepared, Rows};
pub use ready::{Ready, StepError};
pub(crate) use script::Script;
