"""Settings that every test shares."""

from hypothesis import HealthCheck, settings

# A first example may wait for a kernel to compile, which says nothing about the code under test.
settings.register_profile("graphtide", deadline=None, suppress_health_check=[HealthCheck.too_slow])
# For a long look: pytest --hypothesis-profile=deep tests/laws tests/oracle
settings.register_profile("deep", settings.get_profile("graphtide"), max_examples=3000)
settings.load_profile("graphtide")
