"""Settings of all tests of Fencepost itself."""

from hypothesis import settings

# A busy machine must not turn a property red: an example may take as long as it needs.
settings.register_profile("no deadline", settings.get_profile(settings.get_current_profile_name()), deadline=None)
settings.load_profile("no deadline")
